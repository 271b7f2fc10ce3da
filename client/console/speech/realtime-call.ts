import { signal } from '@preact/signals';
import type { RealtimeSessionOptions, RealtimeUsage } from '../../../generated/events.ts';
import { RealtimeError, type RealtimeSession, type Unigate } from '../../index.ts';
import { PcmPlayer } from './pcm-player.ts';

/** An event of the session. Consecutive audio deltas are one entry. */
export interface LogEntry {
  atMs: number;
  isSent: boolean;
  type: string;
  detail: string;
  count: number;
}

/** Older entries are dropped. */
const maxEntries = 500;

/** Words end at spaces, at punctuation, and after each character of scripts without spaces. */
const wordEnd = /^[^]*[\s\p{P}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** A realtime session that speaks a text while it is written. */
export class RealtimeCall {
  readonly log = signal<readonly LogEntry[]>([]);
  readonly usage = signal<RealtimeUsage | undefined>(undefined);
  readonly isOpen = signal(false);
  readonly player: PcmPlayer;
  readonly #startedAt = performance.now();
  #session: RealtimeSession | undefined;
  #sent = '';

  constructor(sampleRate: number) {
    this.player = new PcmPlayer(sampleRate);
  }

  /** Opens the session and speaks until `finish`. Returns the audio as a file. */
  async run(
    client: Unigate,
    model: string,
    options: RealtimeSessionOptions,
    abort: AbortSignal,
    onOpen: () => void,
  ): Promise<Blob> {
    const close = () => void this.player.close();
    abort.addEventListener('abort', close);
    try {
      const session = await client.realtime(model, { signal: abort });
      this.#add('session.update', JSON.stringify(options), true);
      const reading = Promise.all([this.#readEvents(session), this.#readAudio(session)]);
      // Both may fail before the update is rejected.
      reading.catch(() => {});
      await session.update(options);
      this.#session = session;
      this.isOpen.value = true;
      onOpen();
      await reading;
      await this.player.drain();
      return this.player.file();
    } finally {
      this.isOpen.value = false;
      abort.removeEventListener('abort', close);
      close();
    }
  }

  /** Sends the complete words that were added to the text. Returns the text with the part that was sent unchanged. */
  write(text: string): string {
    if (!text.startsWith(this.#sent)) return this.#sent;
    const [words = ''] = wordEnd.exec(text.slice(this.#sent.length)) ?? [];
    this.#append(words);
    return text;
  }

  /** Sends the rest of the text and speaks it now. */
  commit(text: string): void {
    this.#append(text.slice(this.#sent.length));
    this.#add('input_text_buffer.commit', '', true);
    void this.#session?.commit();
  }

  /** Stops the current response. The session continues. */
  cancel(): void {
    this.#add('response.cancel', '', true);
    void this.#session?.cancel();
  }

  /** Sends the rest of the text and ends the session when it is spoken. */
  finish(text: string): void {
    this.#append(text.slice(this.#sent.length));
    this.#add('session.finish', '', true);
    this.isOpen.value = false;
    void this.#session?.finish();
  }

  #append(text: string): void {
    // Spaces alone are sent with the next word.
    if (text.trim() === '' || !this.isOpen.peek()) return;
    this.#sent += text;
    this.#add('input_text_buffer.append', JSON.stringify(text), true);
    void this.#session?.append(text);
  }

  async #readEvents(session: RealtimeSession): Promise<void> {
    for await (const event of session.events) {
      this.usage.value = session.usage;
      this.#add(event.type, detailOf(event), false);
    }
  }

  async #readAudio(session: RealtimeSession): Promise<void> {
    let previous: unknown;
    for (;;) {
      try {
        for await (const chunk of session.audio()) this.player.push(chunk);
        return;
      } catch (error) {
        // After the end of a failed session, every loop throws the same error.
        if (!(error instanceof RealtimeError) || error === previous) throw error;
        // The log shows the event. The session may continue after it.
        previous = error;
      }
    }
  }

  #add(type: string, detail: string, isSent: boolean): void {
    const entries = this.log.peek();
    const last = entries.at(-1);
    const atMs = performance.now() - this.#startedAt;
    this.log.value =
      last?.type === type && type === 'response.audio.delta'
        ? entries.with(entries.length - 1, { ...last, count: last.count + 1 })
        : [...entries.slice(1 - maxEntries), { atMs, isSent, type, detail, count: 1 }];
  }
}

/** Returns what an event contains, without its type, its ids and its audio. */
function detailOf(event: { type: string }): string {
  if ('error' in event) return String((event.error as { message?: unknown }).message);
  if ('response' in event) {
    const { status, usage } = event.response as { status?: string; usage?: object };
    return [status, usage && JSON.stringify(usage)].filter(Boolean).join(' ');
  }
  return '';
}
