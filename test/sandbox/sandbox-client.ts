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

/** A client of one sandbox that runs as long as the test file. */
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

  /** Synthesizes without streaming and downloads the file. */
  async speak(
    path: string,
    body: unknown,
  ): Promise<{ reply: NativeReply; file: Buffer; contentType: string | null }> {
    const response = await this.post(path, body);
    const reply = (await response.json()) as NativeReply;
    if (response.status !== 200) throw new Error(`${response.status}: ${JSON.stringify(reply)}`);
    const download = await fetch(reply.output.audio.url);
    const file = Buffer.from(await download.arrayBuffer());
    return { reply, file, contentType: download.headers.get('content-type') };
  }

  /** Synthesizes with streaming and returns the data of each event. */
  async stream<Reply = NativeReply>(path: string, body: unknown): Promise<Reply[]> {
    const response = await this.post(path, body, { events: true });
    return parseEvents(await response.text()).map(({ data }) => JSON.parse(data) as Reply);
  }
}

/** Parses the exact line layout. Throws if a line is invalid. */
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

/** Starts a sandbox before the tests of the file and stops it afterwards. */
export function useSandbox(options: Partial<SandboxOptions> = {}): SandboxClient {
  const client = new SandboxClient();
  beforeAll(async () => {
    client.sandbox = await startSandbox({ key: 'sandbox-key', ...options });
  });
  afterAll(async () => await client.sandbox.close());
  return client;
}
