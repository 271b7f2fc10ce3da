import type { Router } from 'vitepress';

const isReference = (path: string) => /\/docs\/reference(\.html)?$/.test(path.replace(/[?#].*$/, ''));

/**
 * Loads a page completely when the reader enters or leaves the API reference. Its renderer sets styles and listeners for
 * the whole document.
 */
export function leaveReference(router: Router): void {
  router.onBeforeRouteChange = (to) => {
    const from = globalThis.location?.pathname;
    const target = to.replace(/[?#].*$/, '');
    if (from === undefined || from.replace(/\.html$/, '') === target) return true;
    if (!isReference(from) && !isReference(target)) return true;
    location.assign(to);
    return false;
  };
}
