import type { ServerResponse } from 'node:http';
import { recordResponse } from '../support/recorded-errors.ts';
import { type RecordingUpstream, type SeenRequest, startUpstream } from '../support/upstream.ts';

export const sessionsPath = '/api/resource-channel/vendorx/visual-validate/sessions';

/** Fields of a session in the provider's responses, without the id. */
export type ProviderSession = Readonly<Record<string, unknown>>;

/** An upstream with verification sessions that records its requests. Sessions are pending until changed. */
export interface SessionProvider extends RecordingUpstream {
  /** Sessions by id in the order of creation. */
  sessions: Map<string, ProviderSession>;
  /** Replaces all responses while it is set. */
  instead: ((request: SeenRequest, response: ServerResponse) => void | Promise<void>) | undefined;
  /** Polls of sessions, oldest first. */
  reads(): SeenRequest[];
}

export async function startSessionProvider(name: string): Promise<SessionProvider> {
  const sessions = new Map<string, ProviderSession>();
  const upstream = await startUpstream(async (request, response) => {
    if (provider.instead !== undefined) await provider.instead(request, response);
    else answer(request, response);
  });
  const answer = ({ method, path }: SeenRequest, response: ServerResponse) => {
    const [route = ''] = path.split('?');
    const id =
      method === 'POST'
        ? `vs_${name}_${sessions.size + 1}`
        : decodeURIComponent(route.split('/').at(-1) ?? '');
    if (method === 'POST') sessions.set(id, { status: 'pending', group_id: '' });
    const session = sessions.get(id);
    if (session === undefined) sendJson(response, 404, { success: false, message: 'Session not found' });
    else sendJson(response, 200, { success: true, message: '', data: sessionData(id, session) });
  };
  const provider: SessionProvider = {
    ...upstream,
    sessions,
    instead: undefined,
    reads: () => upstream.seen.filter(({ method }) => method === 'GET'),
  };
  return provider;
}

/** Renders a session like a provider, with fields about the account. */
export function sessionData(id: string, session: ProviderSession = {}): object {
  return {
    session_id: id,
    vendor_token: id,
    h5_link: `https://pages.vendor.example/h5?token=${id}`,
    callback_url: 'https://other.example/',
    channel_id: 4711,
    status: 'pending',
    group_id: '',
    raw_response: '{"ResponseMetadata":{"AccountId":"our-account"}}',
    ...session,
  };
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

export interface ShownSession {
  session_id: string;
  vendor_token: string;
  h5_link: string;
  callback_url: string;
  channel_id: number;
  status: string;
  group_id: string;
  raw_response: string;
  result_code?: number;
  expires_at: string;
  created_at: string;
  updated_at: string;
}

interface Reply {
  success: boolean;
  message: string;
  data: ShownSession;
}

/** Calls the verification routes of a gateway with a key. */
export class SessionClient {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
    signal?: AbortSignal,
  ): Promise<{ status: number; body: Reply }> {
    const response = await fetch(this.#url + path, {
      method,
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    await recordResponse({ method, path }, response);
    return { status: response.status, body: (await response.json()) as Reply };
  }

  async start(body: object = { callback_url: 'https://app.example/verified' }): Promise<ShownSession> {
    return taken(await this.call('POST', sessionsPath, body));
  }

  async show(id: string, resultCode?: number): Promise<ShownSession> {
    return taken(await this.read(id, resultCode));
  }

  read(id: string, resultCode?: number): Promise<{ status: number; body: Reply }> {
    const query = resultCode === undefined ? '' : `?result_code=${resultCode}`;
    return this.call('GET', `${sessionsPath}/${encodeURIComponent(id)}${query}`);
  }
}

function taken({ status, body }: { status: number; body: Reply }): ShownSession {
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body.data;
}
