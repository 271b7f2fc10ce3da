import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { gatewayKey } from '../gateway.ts';
import { checkAudio, delayOf, isAudio } from './audio-frames.ts';
import { type AudioFormat, formats, framesPerText, type RelayMode, realtimePath, texts } from './plan.ts';
import { clientFrame, closeOpcode, closePayload, FrameReader, textOpcode } from './socket-frames.ts';

/** Read buffer of all sessions. A new buffer for each read would cause garbage collections. */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);

interface ServerEvent {
  type: string;
  response?: { usage?: { characters?: number } };
}

/**
 * The client side of a session. It appends a new text after each spoken one, and checks every frame.
 */
export class ClientSession {
  /** Audio frames received so far. */
  frames = 0;
  /** Characters of the texts sent so far. */
  characters = 0;
  /** Resolves when the session is ready for texts. Rejects on an error. */
  readonly opened: Promise<void>;
  /** Resolves at the first audio frame. Rejects on an error. */
  readonly speaking: Promise<void>;
  /** Resolves after all expected frames and a correct close. */
  readonly ended: Promise<void>;
  readonly #opened = Promise.withResolvers<void>();
  readonly #speaking = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #socket: Socket;
  readonly #text: string;
  readonly #format: AudioFormat;
  readonly #framesPerText: number;
  /** Number of texts sent in advance. At 0, the session is silent until `speak` is called. */
  readonly #queuedTexts: number;
  readonly #onDelay: ((ms: number) => void) | undefined;
  readonly #reader = new FrameReader((opcode, payload) => this.#handleFrame(opcode, payload));
  #handshakeBytes: Buffer = Buffer.alloc(0);
  #isOpen = false;
  #events = 0;
  #isFinishing = false;
  /** Characters that the provider has reported. */
  #reported = 0;
  #isFinished = false;

  /** @param onDelay called with the delay of each audio frame in milliseconds */
  constructor(
    port: number,
    mode: RelayMode,
    queuedTexts: number,
    onDelay: ((ms: number) => void) | undefined,
  ) {
    this.#text = texts[mode];
    this.#format = formats[mode];
    this.#framesPerText = framesPerText(this.#format);
    this.#queuedTexts = queuedTexts;
    this.#onDelay = onDelay;
    this.opened = this.#opened.promise;
    this.speaking = this.#speaking.promise;
    this.ended = this.#ended.promise;
    // The caller may await only one of them.
    this.opened.catch(() => {});
    this.ended.catch(() => {});
    this.speaking.catch(() => {});
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: readBuffer,
        callback: (length) => {
          this.#read(readBuffer.subarray(0, length));
          return true;
        },
      },
    });
    this.#socket.on('error', (error) => this.fail(error));
    this.#socket.on('close', () => this.fail(new Error('a session was interrupted')));
    this.#socket.write(handshake(port));
  }

  /** Sends the first text of a silent session. */
  speak(): void {
    this.#append();
  }

  finish(): void {
    this.#isFinishing = true;
    this.#send('session.finish', {});
  }

  /** Aborts the session. */
  fail(error: unknown): void {
    this.#opened.reject(error);
    this.#speaking.reject(error);
    this.#ended.reject(error);
    this.#socket.destroy();
  }

  #read(data: Buffer): void {
    try {
      const frames = this.#isOpen ? data : this.#readHandshake(data);
      if (frames !== undefined) this.#reader.read(frames);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Reads the handshake response. Returns the bytes after it. */
  #readHandshake(data: Buffer): Buffer | undefined {
    const bytes = Buffer.concat([this.#handshakeBytes, data]);
    const end = bytes.indexOf('\r\n\r\n');
    this.#handshakeBytes = bytes;
    if (end < 0) return undefined;
    const status = bytes.toString('latin1', 0, bytes.indexOf('\r\n'));
    if (!status.startsWith('HTTP/1.1 101 ')) throw new Error(`a handshake was answered with ${status}`);
    this.#isOpen = true;
    return bytes.subarray(end + 4);
  }

  #handleFrame(opcode: number, payload: Buffer): void {
    if (opcode === closeOpcode) {
      this.#close(payload.readUInt16BE());
    } else if (isAudio(payload)) {
      this.#onDelay?.(delayOf(payload));
      checkAudio(payload, this.frames, this.#format);
      this.frames += 1;
      if (this.frames === 1) this.#speaking.resolve();
      if (this.frames % this.#framesPerText === 0 && !this.#isFinishing) this.#append();
    } else if (opcode === textOpcode) {
      this.#handleEvent(JSON.parse(payload.toString()) as ServerEvent, payload);
    }
  }

  #handleEvent({ type, response }: ServerEvent, payload: Buffer): void {
    switch (type) {
      case 'session.created':
        this.#send('session.update', { session: { voice: 'Aria', sample_rate: this.#format.sampleRate } });
        break;
      case 'session.updated':
        this.#opened.resolve();
        for (let text = 0; text < this.#queuedTexts; text += 1) this.#append();
        break;
      case 'response.done':
        this.#reported = response?.usage?.characters ?? Number.NaN;
        break;
      case 'session.finished':
        this.#isFinished = true;
        break;
      case 'error':
        throw new Error(`a session failed: ${payload.toString()}`);
    }
  }

  #append(): void {
    this.#send('input_text_buffer.append', { text: this.#text });
    this.characters += this.#text.length;
  }

  #send(type: string, fields: object): void {
    this.#events += 1;
    const event = JSON.stringify({ event_id: `client_${this.#events}`, type, ...fields });
    this.#socket.write(clientFrame(textOpcode, Buffer.from(event)));
  }

  #close(code: number): void {
    const expectedFrames = (this.characters / this.#text.length) * this.#framesPerText;
    if (
      code !== 1000 ||
      !this.#isFinished ||
      this.#reported !== this.characters ||
      this.frames !== expectedFrames
    ) {
      const end = this.#isFinished ? 'finished' : 'did not finish';
      throw new Error(
        `a session ${end} and closed with ${code}: ${this.frames} of ${expectedFrames} audio frames, ` +
          `${this.#reported} of ${this.characters} characters reported`,
      );
    }
    this.#ended.resolve();
    this.#socket.end(clientFrame(closeOpcode, closePayload(1000)));
  }
}

function handshake(port: number): string {
  const headers = [
    `host: 127.0.0.1:${port}`,
    'connection: Upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    `sec-websocket-key: ${randomBytes(16).toString('base64')}`,
    `authorization: Bearer ${gatewayKey}`,
  ];
  return `GET ${realtimePath} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`;
}
