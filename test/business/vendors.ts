import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chargeFor, type Metered, type RateCard } from './rates.ts';

/** A line of a vendor's bill. */
export interface BillLine {
  /** The id that the vendor reports: the request id of a call, or the id of a task. */
  id: string;
  model: string;
  metered: Metered;
  /** In quota. */
  amount: number;
}

/** A stub provider that meters and bills with nothing of the gateway's code. */
export interface Vendor {
  readonly url: string;
  readonly bill: BillLine[];
  /** While true, every request gets 503. */
  isDown: boolean;
  /** While set, requests wait for it before they are answered. A request whose client disconnects is not billed. */
  held: Promise<void> | undefined;
  /** Number of requests that wait. */
  waiting: number;
  close(): Promise<void>;
}

interface VendorAnswer {
  id: string;
  body: object;
  /** Set if the request costs something. */
  metered?: Metered;
}

type Answer = (path: string, body: Readonly<Record<string, unknown>>) => VendorAnswer | undefined;

async function startVendor(rates: RateCard, answer: Answer): Promise<Vendor> {
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const vendor: Vendor = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bill: [],
    isDown: false,
    held: undefined,
    waiting: 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (vendor.held !== undefined) {
      vendor.waiting += 1;
      await Promise.race([vendor.held, new Promise((resolve) => response.once('close', resolve))]);
      vendor.waiting -= 1;
    }
    if (response.destroyed) return;
    const text = Buffer.concat(chunks).toString('utf8');
    const body = text === '' ? {} : (JSON.parse(text) as Readonly<Record<string, unknown>>);
    const found = vendor.isDown ? undefined : answer(request.url ?? '', body);
    if (found === undefined) {
      response.writeHead(vendor.isDown ? 503 : 404).end();
      return;
    }
    const { id, metered } = found;
    const model = String(body.model);
    if (metered !== undefined)
      vendor.bill.push({ id, model, metered, amount: chargeFor(rates, model, metered) });
    response
      .writeHead(200, { 'content-type': 'application/json', 'x-request-id': id })
      .end(JSON.stringify(found.body));
  }
  return vendor;
}

/** Counts characters, and Han ideographs twice. */
function countCharacters(text: string): number {
  let count = 0;
  for (const character of text) count += /\p{Script=Han}/u.test(character) ? 2 : 1;
  return count;
}

/** Starts a vendor that speaks in the native protocol and bills characters. */
export function startSpeechVendor(rates: RateCard): Promise<Vendor> {
  return startVendor(rates, (_path, { input }) => {
    const { text } = input as { text: string };
    const id = randomUUID();
    const characters = countCharacters(text);
    const url = `https://files.example/${id}.wav`;
    const audio = { data: '', url, id: `audio_${id}`, expires_at: 4_102_444_800 };
    const body = { request_id: id, output: { finish_reason: 'stop', audio }, usage: { characters } };
    return { id, body, metered: { figures: { characters } } };
  });
}

/** Starts a vendor of messages that caches system prompts. It bills input, cached and output tokens. */
export function startTextVendor(rates: RateCard): Promise<Vendor> {
  return startVendor(rates, (_path, { model, system = '', messages }) => {
    const [{ content }] = messages as [{ content: string }];
    const id = `msg_${randomUUID()}`;
    const [input, cached, output] = [content.length, String(system).length, 3 + (content.length % 7)];
    const body = {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: [{ type: 'text', text: 'ok '.repeat(output).trim() }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: input, cache_read_input_tokens: cached, output_tokens: output },
    };
    const figures = { input_tokens: input, cached_tokens: cached, output_tokens: output };
    return { id, body, metered: { figures } };
  });
}

/** Completion tokens of one second of video. */
const tokensPerSecond: Readonly<Record<string, number>> = { '480p': 9_600, '720p': 21_600, '1080p': 48_960 };

/** Starts a vendor of videos in the official protocol, whose tasks end at once. It bills completion tokens by resolution. */
export function startVideoVendor(rates: RateCard): Promise<Vendor> {
  const tasks = new Map<string, object>();
  const path = '/api/v3/contents/generations/tasks';
  return startVendor(rates, (asked, { model, resolution, duration, generate_audio: hasAudio }) => {
    if (asked !== path) {
      const id = asked.split('/').at(-1) ?? '';
      const task = tasks.get(id);
      return task === undefined ? undefined : { id, body: task };
    }
    const id = `cgt-${randomUUID()}`;
    const tokens = (tokensPerSecond[String(resolution)] ?? Number.NaN) * Number(duration);
    tasks.set(id, {
      id,
      model,
      status: 'succeeded',
      created_at: 1,
      updated_at: 2,
      error: null,
      content: { video_url: `https://files.example/${id}.mp4` },
      usage: { completion_tokens: tokens, total_tokens: tokens },
      duration,
      resolution,
      generate_audio: hasAudio,
    });
    const fields = { resolution: String(resolution), audio: hasAudio === true };
    return { id, body: { id }, metered: { figures: { completion_tokens: tokens }, fields } };
  });
}
