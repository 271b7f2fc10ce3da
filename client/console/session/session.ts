import { computed, signal } from '@preact/signals';
import { APIError, type MeReply, Unigate } from '../../index.ts';
import { forgetErrors } from './remembered-errors.ts';

/** A signed-in key. */
interface Session {
  client: Unigate;
  /** The key with its scopes, limits and quota, as of the sign-in or the last refresh. */
  me: MeReply;
}

/** Storage of the tab: it ends with the tab and no other tab can read it. */
const storageKey = 'unigate-key';

const current = signal<Session | undefined>(undefined);

/** The signed-in key. Undefined while nobody is signed in. */
export const session = computed(() => current.value);

/** Whether the key may call the operations of an operator. */
export const isAdmin = computed(() => current.value?.me.scopes.includes('admin') ?? false);

/**
 * Rights of the signed-in key. `calls`: it may create media. `user`: it sees all keys of its user. `owner`: it may also change
 * what belongs to the user. `accounts`: it may create sub-accounts, which draw from the wallet of the user.
 */
export type Right = 'calls' | 'user' | 'owner' | 'accounts' | 'admin';

/** The rights of the signed-in key, which follow from its scopes and the role of its member. */
export const rights = computed<ReadonlySet<Right>>(() => {
  const { scopes = [], member, wallet = null } = current.value?.me ?? {};
  const isBilling = member?.role === 'billing';
  const found = new Set<Right>();
  if (!isBilling) found.add('calls');
  if (scopes.includes('user')) found.add('user');
  if (scopes.includes('user') && !isBilling) found.add('owner');
  if (found.has('owner') && wallet !== null) found.add('accounts');
  if (isAdmin.value) found.add('admin');
  return found;
});

/** True until the key that the tab has stored is checked. */
export const isRestoring = signal(sessionStorage.getItem(storageKey) !== null);

/** Why no key is signed in, if the user did not sign out. */
export const signOutReason = signal<string | undefined>(undefined);

/** The address of the gateway: the page is at `console/` below it. */
export const gatewayUrl = new URL(
  location.pathname.replace(/console\/?.*$/, ''),
  location.origin,
).href.replace(/\/$/, '');

/** Signs in with a key. Throws APIError if the gateway refuses it. */
export async function signIn(key: string): Promise<void> {
  const client = new Unigate({ baseUrl: gatewayUrl, apiKey: key, fetch: fetchAndWatch });
  const me = await client.me.retrieve();
  sessionStorage.setItem(storageKey, key);
  signOutReason.value = undefined;
  current.value = { client, me };
}

/** Reads the quota and the scopes of the key again. */
export async function refreshSession(): Promise<void> {
  const before = current.peek();
  if (before === undefined) return;
  const me = await before.client.me.retrieve();
  if (current.peek() === before) current.value = { ...before, me };
}

/** Signs out and forgets the key, and all that pages have stored for it in this tab. */
export function signOut(reason?: string): void {
  sessionStorage.clear();
  forgetErrors();
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
    // The tab still has the key, so a reload tries again.
    else signOutReason.value = error instanceof Error ? error.message : String(error);
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
