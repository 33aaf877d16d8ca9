"""For those who keep the explorer: its speed, four journeys, pictures for the documents."""
