// @ts-check
// On a phone the list of pages lies above the page: it closes once a page is chosen.

const NARROW = "(max-width: 767.98px)"; // as in the style sheet
const LINK = '[data-testid="stSidebarNavLink"]';
const CLOSE = '[data-testid="stSidebarCollapseButton"] button';

const { dataset } = document.documentElement;
if (dataset.pagesClose === undefined) {
  document.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element && target.closest(LINK) && matchMedia(NARROW).matches)) return;
    const button = document.querySelector(CLOSE);
    if (button instanceof HTMLElement) button.click();
  });
  dataset.pagesClose = "";
}
