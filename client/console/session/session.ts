import { computed, signal } from '@preact/signals';
import { APIError, Unigate } from '../../index.ts';

/** A signed-in key. */
export interface Session {
  client: Unigate;
  /** Sent by realtime samples and the mock of a socket; never part of an address, a log or a stored file. */
  key: string;
  /** Whether the key may call the operations of an operator. */
  isAdmin: boolean;
}

/** Storage of the tab: it ends with the tab and no other tab can read it. */
const storageKey = 'unigate-key';

const current = signal<Session | undefined>(undefined);

/** The signed-in key. Undefined while nobody is signed in. */
export const session = computed(() => current.value);

/** True until the key that the tab has stored is checked. */
export const isRestoring = signal(sessionStorage.getItem(storageKey) !== null);

/** Why the console signed the key out. */
export const signOutReason = signal<string | undefined>(undefined);

/** The address of the gateway: the page is at `console/` below it. */
export const gatewayUrl = new URL(
  location.pathname.replace(/console\/?.*$/, ''),
  location.origin,
).href.replace(/\/$/, '');

/** Signs in with a key. Throws APIError if the gateway refuses it. */
export async function signIn(key: string): Promise<void> {
  const client = new Unigate({ baseUrl: gatewayUrl, apiKey: key, fetch: fetchAndWatch });
  await client.models.list();
  const isAdmin = await client.admin.groups.list({ page_size: 1 }).then(
    () => true,
    () => false,
  );
  sessionStorage.setItem(storageKey, key);
  signOutReason.value = undefined;
  current.value = { client, key, isAdmin };
}

/** Signs out and forgets the key. */
export function signOut(reason?: string): void {
  sessionStorage.removeItem(storageKey);
  signOutReason.value = reason;
  current.value = undefined;
}

/** Signs in with the key that this tab has stored. */
export async function restoreSession(): Promise<void> {
  const key = sessionStorage.getItem(storageKey);
  try {
    if (key !== null) await signIn(key);
  } catch (error) {
    if (error instanceof APIError && error.status === 401) signOut('The key is no longer valid.');
    else signOut(`The gateway did not accept the key: ${String(error)}`);
  } finally {
    isRestoring.value = false;
  }
}

/** Returns the client of the signed-in key. Pages exist only while a key is signed in. */
export function useClient(): Unigate {
  if (current.value === undefined) throw new Error('No key is signed in.');
  return current.value.client;
}

async function fetchAndWatch(request: Request): Promise<Response> {
  const response = await fetch(request);
  if (response.status === 401 && current.peek() !== undefined) signOut('The key is no longer valid.');
  return response;
}
