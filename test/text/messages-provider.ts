import type { ServerResponse } from 'node:http';
import type { ChannelSettings } from '../../server/settings/settings.ts';
import { makeKey, post } from '../server/ledger.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';

export const model = 'iota-chat-1';
export const quota = 100_000;

export interface MessagesProvider {
  readonly upstream: RecordingUpstream;
  /** Its price is 2 a token. */
  readonly target: TestGateway;
  /** What the provider does with the next requests. */
  answer: (response: ServerResponse) => void;
  /** Of the key that calls. */
  key: { key: string; id: number };
  /** Makes a new key, and lets the channel have its failures forgiven. */
  renew(): Promise<void>;
  says(body: unknown, status?: number, contentType?: string): void;
  /** `headers` beside the version that every request must have. */
  call(body: object, init?: RequestInit, path?: string): Promise<Response>;
  close(): Promise<void>;
}

const only = (id: string) => [{ id, upstream: undefined }];

/** A provider of messages that answers as told, behind a gateway. `change` adapts the channel. */
export async function startMessagesProvider(
  change: Partial<ChannelSettings> = {},
): Promise<MessagesProvider> {
  const upstream = await startUpstream((_request, response) => provider.answer(response));
  const named = [{ id: model, upstream: 'vendor-large-5' }, ...only('own-*')];
  const to = (name: string, more: Partial<ChannelSettings>) =>
    channelTo(upstream.url, { name, protocol: 'messages', ...more });
  const channels = [
    to('first', { models: named, ...change }),
    to('closed', { models: only('shut-*'), groups: [] }),
  ];
  const target = await startTestGateway({ sandbox: false, channels, prices: { '*': 2 } });
  const provider: MessagesProvider = {
    upstream,
    target,
    answer: (response) => response.end(),
    key: { key: '', id: 0 },
    async renew() {
      provider.key = await makeKey(target, { quota });
      target.gateway.channels.named('first')?.health.reset();
    },
    says(body, status = 200, contentType = 'application/json') {
      provider.answer = (response) => {
        response.writeHead(status, { 'content-type': contentType });
        response.end(typeof body === 'string' ? body : JSON.stringify(body));
      };
    },
    call(body, init = {}, path = '/v1/messages') {
      const headers = { 'compat-version': '2023-06-01', ...(init.headers as Record<string, string>) };
      return post(target.url, provider.key.key, path, body, { ...init, headers });
    },
    async close() {
      await target.close();
      await upstream.close();
    },
  };
  return provider;
}
