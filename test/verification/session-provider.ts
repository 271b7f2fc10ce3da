import type { ServerResponse } from 'node:http';
import { recordResponse } from '../support/recorded-errors.ts';
import { type RecordingUpstream, type SeenRequest, startUpstream } from '../support/upstream.ts';

export const sessionsPath = '/api/resource-channel/vendorx/visual-validate/sessions';

/** What the provider tells of a session, beside its id. */
export type ToldSession = Readonly<Record<string, unknown>>;

/** An upstream with verification sessions that records what it is asked. They are pending until told otherwise. */
export interface SessionProvider extends RecordingUpstream {
  /** By id, in the order in which they were made. */
  sessions: Map<string, ToldSession>;
  /** Answers in the place of all that while it is set. */
  instead: ((request: SeenRequest, response: ServerResponse) => void | Promise<void>) | undefined;
  /** What was asked about sessions, oldest first. */
  reads(): SeenRequest[];
}

export async function startSessionProvider(name: string): Promise<SessionProvider> {
  const sessions = new Map<string, ToldSession>();
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
    const told = sessions.get(id);
    if (told === undefined) sendJson(response, 404, { success: false, message: 'There is none' });
    else sendJson(response, 200, { success: true, message: '', data: sessionData(id, told) });
  };
  const provider: SessionProvider = {
    ...upstream,
    sessions,
    instead: undefined,
    reads: () => upstream.seen.filter(({ method }) => method === 'GET'),
  };
  return provider;
}

/** A session as a provider tells of it, with much about the account that it is in. */
export function sessionData(id: string, told: ToldSession = {}): object {
  return {
    session_id: id,
    vendor_token: id,
    h5_link: `https://pages.vendor.example/h5?token=${id}`,
    callback_url: 'https://other.example/',
    channel_id: 4711,
    status: 'pending',
    group_id: '',
    raw_response: '{"ResponseMetadata":{"AccountId":"our-account"}}',
    ...told,
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

/** The verification routes of a gateway, as a client with that key calls them. */
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
