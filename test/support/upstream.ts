import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ChannelSettings } from '../../server/settings/settings.ts';

export interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  /** Parsed JSON, or undefined without a body. */
  body: unknown;
}

export interface RecordingUpstream {
  url: string;
  seen: SeenRequest[];
  /** Returns the requests except GET. Polls of tasks, also of earlier tests, come at any time. */
  changes(): SeenRequest[];
  close(): Promise<void>;
}

/** Starts an upstream that records its requests and answers with `answer`. */
export async function startUpstream(
  answer: (request: SeenRequest, response: ServerResponse) => void | Promise<void>,
): Promise<RecordingUpstream> {
  const seen: SeenRequest[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const one: SeenRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
    seen.push(one);
    await answer(one, response);
  };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    changes: () => seen.filter(({ method }) => method !== 'GET'),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Returns the settings of a native channel to an upstream, which serves every model and voice. */
export function channelTo(url: string, change: Partial<ChannelSettings> = {}): ChannelSettings {
  return {
    name: 'recording',
    protocol: 'native',
    baseUrl: url,
    wsUrl: url.replace('http', 'ws'),
    key: 'upstream-key',
    models: [{ id: '*', upstream: undefined }],
    groups: undefined,
    priority: 0,
    weight: 1,
    voices: undefined,
    profile: { headers: {}, paths: {} },
    privateFiles: true,
    relayMedia: false,
    ...change,
  };
}
