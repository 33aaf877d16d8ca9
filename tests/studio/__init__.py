"""For those who keep the explorer: its speed, journeys, pictures, and the fits that it keeps."""
