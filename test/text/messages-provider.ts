import type { ServerResponse } from 'node:http';
import type { ChannelSettings } from '../../server/settings/settings.ts';
import { makeKey, post } from '../server/ledger.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';

export const model = 'iota-chat-1';
export const quota = 100_000;

export interface MessagesProvider {
  readonly upstream: RecordingUpstream;
  /** The model's price is 2 per token. */
  readonly target: TestGateway;
  /** Handles the next requests. */
  answer: (response: ServerResponse) => void;
  /** Id of the calling key. */
  key: { key: string; id: number };
  /** Creates a new key and resets the channel's health. */
  renew(): Promise<void>;
  respond(body: unknown, status?: number, contentType?: string): void;
  /** `headers` are added to the required version. */
  call(body: object, init?: RequestInit, path?: string): Promise<Response>;
  close(): Promise<void>;
}

const only = (id: string) => [{ id, upstream: undefined }];

/** Starts a configurable provider of messages behind a gateway. `change` adapts the channel. */
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
    respond(body, status = 200, contentType = 'application/json') {
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
