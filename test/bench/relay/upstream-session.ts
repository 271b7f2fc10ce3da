import type { Socket } from 'node:net';
import { AudioFrames } from './audio-frames.ts';
import { type AudioFormat, formats, framesPerText, modeOf, shortFrames, textsPerResponse } from './plan.ts';
import { closeOpcode, closePayload, serverFrame, textOpcode } from './socket-frames.ts';

/** Audio frames per write at full speed. Single frames would make the stub the bottleneck. */
const framesPerWrite = 16;

/** Spreads the sessions evenly over the time between two frames. */
const goldenRatio = 0.618_033_988_75;

/** The provider side of a realtime session in mode server_commit. */
export class UpstreamSession {
  readonly #socket: Socket;
  readonly #settings: Record<string, unknown>;
  #format: AudioFormat = shortFrames;
  /** Undefined before the first text. */
  #audio: AudioFrames | undefined;
  #events = 0;
  #characters = 0;
  /** Audio frames still to send. */
  #pendingFrames = 0;
  #sent = 0;
  #responses = 0;
  #framesOfResponse = 0;
  #isPaced = false;
  #isFinishing = false;
  /** Whether a pending write or timer continues the audio. */
  #isSending = false;
  #timer: NodeJS.Timeout | undefined;
  /** Position of its paced frames between two frames, from 0 to 1. */
  readonly #phase: number;
  /** Time of the next paced frame on the clock of `performance`. */
  #dueAt = 0;

  /** @param index number of earlier sessions */
  constructor(socket: Socket, model: string, index: number) {
    this.#socket = socket;
    this.#phase = (index * goldenRatio) % 1;
    this.#settings = {
      id: `sess_${index}`,
      object: 'realtime.session',
      mode: 'server_commit',
      model,
      voice: 'Aria',
      response_format: 'pcm',
      sample_rate: shortFrames.sampleRate,
    };
    this.#emit('session.created', { session: this.#settings });
  }

  /** Handles an event of the client. @throws Error on an unexpected event */
  handle(event: { type?: unknown; text?: unknown; session?: object }): void {
    switch (event.type) {
      case 'session.update':
        Object.assign(this.#settings, event.session);
        this.#emit('session.updated', { session: this.#settings });
        break;
      case 'input_text_buffer.append':
        this.#append(String(event.text));
        break;
      case 'session.finish':
        this.#isFinishing = true;
        if (this.#timer !== undefined) {
          clearTimeout(this.#timer);
          this.#isSending = false;
        }
        this.#next();
        break;
      default:
        throw new Error(`the stub received ${JSON.stringify(event)}`);
    }
  }

  /** Stops sending after the socket has closed. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#isSending = true;
  }

  #append(text: string): void {
    const mode = modeOf(text);
    this.#format = formats[mode];
    this.#isPaced = mode !== 'full speed';
    this.#audio ??= new AudioFrames(this.#format, this.#isPaced ? 1 : framesPerWrite);
    this.#characters += text.length;
    this.#pendingFrames += framesPerText(this.#format);
    this.#next();
  }

  #next(): void {
    if (this.#isSending) return;
    this.#isSending = this.#pendingFrames > 0;
    if (!this.#isSending) {
      if (this.#isFinishing) this.#finish();
    } else if (this.#isPaced && !this.#isFinishing) {
      this.#timer = setTimeout(this.#sendOne, this.#delayMs());
    } else {
      // Yields to the other sessions.
      setImmediate(this.#sendMany);
    }
  }

  /** Returns the time until the next paced frame. A late session keeps its phase, so that it never joins others. */
  #delayMs(): number {
    const paceMs = 1000 / this.#format.framesPerSecond;
    const now = performance.now();
    const periods = Math.ceil(now / paceMs - this.#phase);
    this.#dueAt = Math.max(this.#dueAt + paceMs, (periods + this.#phase) * paceMs);
    return this.#dueAt - now;
  }

  readonly #sendOne = (): void => {
    this.#timer = undefined;
    this.#sendAudio(1);
  };

  readonly #sendMany = (): void => {
    this.#sendAudio(this.#pendingFrames);
  };

  readonly #onWritten = (): void => {
    this.#isSending = false;
    this.#next();
  };

  /** Sends audio of one response. Continues when it is written. */
  #sendAudio(max: number): void {
    const audio = this.#audio;
    if (audio === undefined) return;
    if (this.#framesOfResponse === 0) this.#startResponse();
    const framesPerResponse = textsPerResponse * framesPerText(this.#format);
    const count = Math.min(max, audio.capacity, framesPerResponse - this.#framesOfResponse);
    this.#socket.write(audio.create(count, this.#sent, this.#responses), this.#onWritten);
    this.#sent += count;
    this.#pendingFrames -= count;
    this.#framesOfResponse += count;
    if (this.#framesOfResponse === framesPerResponse) this.#completeResponse();
  }

  /** Ids of the current response. */
  get #responseIds(): { response_id: string; item_id: string; output_index: 0; content_index: 0 } {
    const number = String(this.#responses).padStart(8, '0');
    return { response_id: `resp_${number}`, item_id: `item_${number}`, output_index: 0, content_index: 0 };
  }

  #response(status: string, more: object): object {
    return {
      id: this.#responseIds.response_id,
      object: 'realtime.response',
      conversation_id: '',
      status,
      ...more,
    };
  }

  #item(status: string, content: readonly object[]): object {
    return {
      response_id: this.#responseIds.response_id,
      output_index: 0,
      item: {
        id: this.#responseIds.item_id,
        object: 'realtime.item',
        type: 'message',
        status,
        role: 'assistant',
        content,
      },
    };
  }

  #startResponse(): void {
    this.#responses += 1;
    this.#emit('response.created', {
      response: this.#response('in_progress', { voice: 'Aria', output: [] }),
    });
    this.#emit('response.output_item.added', this.#item('in_progress', []));
    this.#emit('response.content_part.added', { ...this.#responseIds, part: { type: 'audio', text: '' } });
  }

  #completeResponse(): void {
    const part = { type: 'audio', text: '' };
    this.#emit('response.audio.done', this.#responseIds);
    this.#emit('response.content_part.done', { ...this.#responseIds, part });
    this.#emit('response.output_item.done', this.#item('completed', [part]));
    const usage = { characters: this.#characters };
    this.#emit('response.done', {
      response: this.#response('completed', {
        modalities: ['text', 'audio'],
        voice: 'Aria',
        output: [],
        usage,
      }),
    });
    this.#framesOfResponse = 0;
  }

  #finish(): void {
    if (this.#framesOfResponse > 0) this.#completeResponse();
    this.#emit('session.finished', {});
    this.#socket.end(serverFrame(closeOpcode, closePayload(1000)));
    this.stop();
  }

  #emit(type: string, fields: object): void {
    this.#events += 1;
    const event = JSON.stringify({ event_id: `event_${this.#events}`, type, ...fields });
    this.#socket.write(serverFrame(textOpcode, Buffer.from(event)));
  }
}
