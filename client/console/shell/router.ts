import { computed, signal } from '@preact/signals';

/** A page of the console with its parameters, as in `#/speech?model=alpha3-tts-flash`. */
export interface Route {
  path: string;
  query: URLSearchParams;
}

const hash = signal(location.hash);
addEventListener('hashchange', () => {
  hash.value = location.hash;
});

/** The current page. It is part of the fragment, so the gateway serves one document for all pages. */
export const route = computed<Route>(() => {
  const [path = '', query = ''] = hash.value.replace(/^#\/?/, '').split('?');
  return { path, query: new URLSearchParams(query) };
});

/** Returns the address of a page. Omits undefined and empty parameters. */
export function addressOf(path: string, query: Record<string, string | undefined> = {}): string {
  const entries = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const text = new URLSearchParams(entries).toString();
  return `#/${path}${text === '' ? '' : `?${text}`}`;
}

/** Opens a page. */
export function navigate(path: string, query?: Record<string, string | undefined>): void {
  location.hash = addressOf(path, query);
}

/**
 * Replaces the parameters of the current page, without an entry in the history. Does nothing if another address has been
 * opened since the route `shown`.
 */
export function replaceQuery(query: Record<string, string | undefined>, shown = route.peek()): void {
  if (shown !== route.peek() || location.hash !== hash.peek()) return;
  history.replaceState(null, '', addressOf(shown.path, query));
  hash.value = location.hash;
}
