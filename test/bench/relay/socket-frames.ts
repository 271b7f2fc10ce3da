/** Called with the opcode (1 text, 2 binary, 8 close, 9 ping, 10 pong) and the unmasked payload of each frame. */
export type OnFrame = (opcode: number, payload: Buffer) => void;

export const textOpcode = 1;
export const closeOpcode = 8;

const finBit = 0x80;
const maskBit = 0x80;
const keyBytes = 4;

/**
 * Reads WebSocket frames. A complete library at both ends would cost more than the measured relays. Supports unfragmented
 * frames of up to 64 KB.
 */
export class FrameReader {
  readonly #onFrame: OnFrame;
  /** The start of an incomplete frame. */
  #rest: Buffer | undefined;
  /** Minimum number of missing bytes. */
  #missing = 0;

  constructor(onFrame: OnFrame) {
    this.#onFrame = onFrame;
  }

  /** Reads frames. The caller may reuse `data` afterwards. @throws Error on an unsupported frame */
  read(data: Buffer): void {
    let offset = 0;
    while (this.#rest !== undefined && offset < data.length) {
      const chunk = data.subarray(offset, offset + this.#missing);
      offset += chunk.length;
      const bytes = Buffer.concat([this.#rest, chunk]);
      const next = this.#readFrame(bytes, 0);
      this.#rest = next > 0 ? undefined : bytes;
      this.#missing = -next;
    }
    while (offset < data.length) {
      const next = this.#readFrame(data, offset);
      if (next < 0) {
        this.#rest = Buffer.from(data.subarray(offset));
        this.#missing = -next;
        return;
      }
      offset = next;
    }
  }

  /** Reads the frame at an offset. Returns the offset of the next one, or the negative number of missing bytes. */
  #readFrame(bytes: Buffer, offset: number): number {
    const available = bytes.length - offset;
    if (available < 2) return available - 2;
    const first = bytes[offset] ?? 0;
    const second = bytes[offset + 1] ?? 0;
    if ((first & 0xf0) !== finBit) throw new Error(`unsupported frame with first byte ${first}`);
    let length = second & 0x7f;
    let start = offset + 2;
    if (length === 127) throw new Error('a frame is longer than 64 KB');
    if (length === 126) {
      if (available < 4) return available - 4;
      length = bytes.readUInt16BE(start);
      start += 2;
    }
    const key = start;
    const masked = (second & maskBit) !== 0;
    if (masked) start += keyBytes;
    const end = start + length;
    if (end > bytes.length) return bytes.length - end;
    const payload = bytes.subarray(start, end);
    this.#onFrame(first & 0x0f, masked ? unmasked(payload, bytes.subarray(key, start)) : payload);
    return end;
  }
}

function unmasked(payload: Buffer, key: Buffer): Buffer {
  return Buffer.from(payload.map((byte, index) => byte ^ (key[index % keyBytes] ?? 0)));
}

/** Returns a frame of a server. @throws RangeError if the payload is 64 KB or more */
export function serverFrame(opcode: number, payload: Buffer): Buffer {
  return Buffer.concat([frameHead(opcode, payload.length, 0), payload]);
}

/** Returns a frame of a client. Its mask is zero, so that the payload is unchanged. */
export function clientFrame(opcode: number, payload: Buffer): Buffer {
  return Buffer.concat([frameHead(opcode, payload.length, maskBit), Buffer.alloc(keyBytes), payload]);
}

/** Returns the payload of a close frame. */
export function closePayload(code: number): Buffer {
  const payload = Buffer.alloc(2);
  payload.writeUInt16BE(code);
  return payload;
}

function frameHead(opcode: number, length: number, mask: number): Buffer {
  if (length < 126) return Buffer.from([finBit | opcode, mask | length]);
  const head = Buffer.from([finBit | opcode, mask | 126, 0, 0]);
  head.writeUInt16BE(length, 2);
  return head;
}
