"""Attack in a real browser: what is proved stands there, and budgets are played without a word."""

from __future__ import annotations

from typing import Any

from studio.stage import wait_until_idle

from app.texts import attack as attack_texts
from app.texts import release as release_texts

SAID = "[data-live=attacked]"
PLAYING = "being played"


def test_a_cold_page_plays_every_budget_by_itself(new_page: Any, server: Any, visits: Any) -> None:
    page = new_page()
    page.goto(f"{server(None)}/attack")
    page.locator('[data-panel="ruler"]', has_text="We can prove at most").wait_for(timeout=30_000)
    page.get_by_text(attack_texts.EXHIBITS).wait_for(timeout=30_000)
    thumb = page.locator(".st-key-attack_step [role=slider], .st-key-attack_step input[type=range]")
    thumb.first.focus()
    for key, budget in (("End", "20.0"), ("Home", "0.10")):
        page.keyboard.press(key)
        done = page.locator(SAID, has_text=f"At ε = {budget}").filter(has_text="you are right")
        done.wait_for(timeout=60_000)
        assert PLAYING not in page.locator('[data-panel="ruler"]').inner_text()
    assert visits.outside == []


def test_a_reload_keeps_what_was_chosen_on_explore(new_page: Any, server: Any) -> None:
    page = new_page()
    page.goto(f"{server(None)}/?data=places&components=4")
    wait_until_idle(page)
    titles = {"Attack": attack_texts.TITLE, "Release": release_texts.TITLE}
    lead = page.locator(".dp-lead", has_text="k-means, 4 centres on Places")
    for name, title in titles.items():
        page.get_by_role("link", name=name, exact=True).first.click()
        page.locator("h1", has_text=title).wait_for(timeout=30_000)
        page.wait_for_url(f"**/{name.lower()}?on=*")
        page.reload()
        lead.wait_for(timeout=30_000)
    for _ in range(2):  # a browser at leisure has kept where a page stood without its choices
        wait_until_idle(page)
        page.wait_for_timeout(1000)
        page.go_back()
        if "/attack?on=" in page.url:
            break
    page.locator("h1", has_text=titles["Attack"]).wait_for(timeout=30_000)
    lead.wait_for(timeout=30_000)
