import { computed, signal } from '@preact/signals';
import { APIError, type MeReply, type Session as SessionKey, Unigate } from '../../index.ts';
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

/** Whether a proxy in front of this gateway signs people in. The gateway states it in the page. */
export const offersProxy =
  document.querySelector<HTMLMetaElement>('meta[name="unigate-sign-in"]')?.content === 'proxy';

/** Present after a sign-out, so that a reload does not sign in through the proxy again. */
const signedOutKey = 'unigate-signed-out';

const mayUseProxy = () => offersProxy && sessionStorage.getItem(signedOutKey) === null;

/** True until the key that the tab has stored, or the sign-in through the proxy, is checked. */
export const isRestoring = signal(sessionStorage.getItem(storageKey) !== null || mayUseProxy());

/** Why no key is signed in, if the user did not sign out. */
export const signOutReason = signal<string | undefined>(undefined);

/** The address of the gateway: the page is at `console/` below it. */
export const gatewayUrl = new URL(
  location.pathname.replace(/console\/?.*$/, ''),
  location.origin,
).href.replace(/\/$/, '');

/** Signs in with a key. Throws APIError if the gateway refuses it. */
export async function signIn(key: string): Promise<void> {
  const client = clientOf(key);
  const me = await client.me.retrieve();
  sessionStorage.setItem(storageKey, key);
  sessionStorage.removeItem(signedOutKey);
  signOutReason.value = undefined;
  current.value = { client, me };
}

const clientOf = (apiKey: string) => new Unigate({ baseUrl: gatewayUrl, apiKey, fetch: fetchAndWatch });

/** Signs in as the user that the proxy asserts. Throws if the gateway or the proxy refuses it. */
export const signInWithProxy = async (): Promise<void> => signIn((await requestSession()).key);

async function requestSession(): Promise<SessionKey> {
  const response = await fetch(`${gatewayUrl}/api/session`, { method: 'POST', redirect: 'manual' });
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  // A proxy sends a page, or the address of one, to people who are not signed in.
  if (!isJson) throw new Error('The proxy has not signed you in. Reload the page.');
  const { message, data }: { message: string; data?: SessionKey } = await response.json();
  if (data === undefined) throw new Error(message);
  return data;
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
  if (offersProxy && reason === undefined) sessionStorage.setItem(signedOutKey, '');
  forgetErrors();
  signOutReason.value = reason;
  current.value = undefined;
}

/** Signs in with the key that this tab has stored, or through the proxy. */
export async function restoreSession(): Promise<void> {
  const key = sessionStorage.getItem(storageKey);
  try {
    if (key === null) {
      if (mayUseProxy()) await signInWithProxy();
    } else {
      await signIn(key).catch(async (error: unknown) => {
        const isOver = error instanceof APIError && error.status === 401;
        if (!isOver || !offersProxy) throw error;
        await signInWithProxy();
      });
    }
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
  const isSession = current.peek()?.me.key.session === true;
  const again = isSession ? request.clone() : undefined;
  const response = await fetch(request);
  if (response.status !== 401 || current.peek() === undefined) return response;
  const key = again === undefined ? undefined : await newerKey(request.headers.get('authorization'));
  if (again === undefined || key === undefined) {
    signOut('The key is no longer valid.');
    return response;
  }
  again.headers.set('authorization', `Bearer ${key}`);
  return fetch(again);
}

/** Returns a key that replaces an expired one. Another request may have renewed the session since this one was sent. */
async function newerKey(authorization: string | null): Promise<string | undefined> {
  const stored = sessionStorage.getItem(storageKey);
  return stored !== null && authorization !== `Bearer ${stored}` ? stored : renewSession();
}

/** The running renewal, which concurrent requests share. */
let renewal: Promise<string | undefined> | undefined;

/** Replaces an expired session key. Resolves to undefined if the proxy does not assert the same person anymore. */
function renewSession(): Promise<string | undefined> {
  renewal ??= requestSession()
    .then(({ key, user, member }) => {
      const me = current.peek()?.me;
      if (me === undefined || me.user.id !== user.id || me.member?.id !== member?.id) return undefined;
      sessionStorage.setItem(storageKey, key);
      current.value = { client: clientOf(key), me };
      return key;
    })
    .catch(() => undefined)
    .finally(() => {
      renewal = undefined;
    });
  return renewal;
}
