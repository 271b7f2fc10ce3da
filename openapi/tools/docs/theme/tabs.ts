/** Key of the remembered tab in `localStorage`. */
const key = 'unigate-tab';

/**
 * Selects the remembered tab in all code groups of the page that have it. Also an inline script of each page, so it
 * refers to nothing outside of itself.
 */
export function showRememberedTab(): void {
  const chosen = localStorage.getItem('unigate-tab');
  if (!chosen) return;
  for (const group of document.querySelectorAll('.vp-code-group')) {
    const labels = [...group.querySelectorAll<HTMLElement>('.tabs label')];
    const index = labels.findIndex((label) => label.textContent?.trim() === chosen);
    const input = group.querySelectorAll<HTMLInputElement>('.tabs input')[index];
    if (input === undefined) continue;
    input.checked = true;
    const blocks = [...group.querySelectorAll('.blocks > *')];
    for (const [at, block] of blocks.entries()) block.classList.toggle('active', at === index);
  }
}

/** Stores the tab that the reader selects, and selects it in all other groups. */
export function rememberTabs(): void {
  document.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.closest('.vp-code-group .tabs') === null) return;
    const label = document.querySelector(`label[for="${CSS.escape(target.id)}"]`);
    localStorage.setItem(key, label?.textContent?.trim() ?? '');
    const before = target.getBoundingClientRect().top;
    showRememberedTab();
    // Other groups above may have become taller.
    window.scrollBy({ top: target.getBoundingClientRect().top - before, behavior: 'instant' });
  });
}
