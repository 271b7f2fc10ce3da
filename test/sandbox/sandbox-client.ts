import { afterAll, beforeAll } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../server/sandbox/sandbox.ts';

export const synthesizerPath = '/api/v1/services/audio/tts/SpeechSynthesizer';
export const multimodalPath = '/api/v1/services/aigc/multimodal-generation/generation';

export interface NativeReply {
  request_id: string;
  code?: string;
  message?: string;
  output: {
    finish_reason: string;
    type?: string;
    original_text?: string;
    sentence?: { index: number; words: NativeWord[] };
    audio: { data: string; url: string; id: string; expires_at: number };
  };
  usage: Record<string, unknown>;
}

export interface NativeWord {
  text: string;
  begin_index: number;
  end_index: number;
  begin_time: number;
  end_time: number;
}

export interface BetaReply {
  request_id: string;
  output: {
    base_resp: { status_code: number; status_msg: string };
    data: { audio: string; status: number; subtitle_file?: string } | null;
    extra_info: Record<string, number | string> | null;
    trace_id: string;
  };
  usage: { characters: number };
}

export interface PostOptions {
  events?: boolean;
  signal?: AbortSignal;
  key?: string;
}

/** A client of one sandbox that lives as long as the test file. */
export class SandboxClient {
  sandbox: Sandbox = { url: '', wsUrl: '', key: '', close: async () => {} };

  post(path: string, body: unknown, { events = false, signal, key = this.sandbox.key }: PostOptions = {}) {
    return fetch(this.sandbox.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(events && { 'X-Native-SSE': 'enable' }),
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      signal,
    });
  }

  /** Speaks without a stream and downloads the file. */
  async speak(
    path: string,
    body: unknown,
  ): Promise<{ reply: NativeReply; file: Buffer; contentType: string | null }> {
    const answer = await this.post(path, body);
    const reply = (await answer.json()) as NativeReply;
    if (answer.status !== 200) throw new Error(`${answer.status}: ${JSON.stringify(reply)}`);
    const download = await fetch(reply.output.audio.url);
    const file = Buffer.from(await download.arrayBuffer());
    return { reply, file, contentType: download.headers.get('content-type') };
  }

  /** Speaks as events and returns the data of each. */
  async stream<Reply = NativeReply>(path: string, body: unknown): Promise<Reply[]> {
    const answer = await this.post(path, body, { events: true });
    return parseEvents(await answer.text()).map(({ data }) => JSON.parse(data) as Reply);
  }
}

/** Takes the exact line layout apart; throws when a line is out of place. */
export function parseEvents(text: string): { id: number; event: string; status: number; data: string }[] {
  return text
    .split(/(?<=\n\n)/)
    .filter((block) => block !== '')
    .map((block) => {
      const match = /^id:(\d+)\nevent:(\w+)\n:HTTP_STATUS\/(\d{3})\ndata:([^ \n][^\n]*)\n\n$/.exec(block);
      if (!match) throw new Error(`Not an event: ${JSON.stringify(block.slice(0, 200))}`);
      const [, id, event = '', status, data = ''] = match;
      return { id: Number(id), event, status: Number(status), data };
    });
}

/** Starts a sandbox before the file's tests and stops it after them. */
export function useSandbox(options: Partial<SandboxOptions> = {}): SandboxClient {
  const client = new SandboxClient();
  beforeAll(async () => {
    client.sandbox = await startSandbox({ key: 'sandbox-key', ...options });
  });
  afterAll(async () => await client.sandbox.close());
  return client;
}
