/** The part of the interface that the gateway uses. The package has no types. */
declare module 'busboy' {
  import type { IncomingHttpHeaders } from 'node:http';
  import type { Readable, Writable } from 'node:stream';

  interface Limits {
    /** Bytes of a text part. A longer one is truncated and marked as `valueTruncated`. */
    fieldSize: number;
    /** Bytes of a file part. A longer one is truncated after the event `limit` of the file. */
    fileSize: number;
    /** Number of all parts. */
    parts: number;
  }

  interface FormReader extends Writable {
    on(
      event: 'field',
      listener: (name: string | undefined, value: string, info: { valueTruncated: boolean }) => void,
    ): this;
    on(event: 'file', listener: (name: string | undefined, file: Readable) => void): this;
    on(event: 'partsLimit' | 'close', listener: () => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
  }

  /** @throws Error when the content type is not a form or has no boundary */
  export default function busboy(options: { headers: IncomingHttpHeaders; limits: Limits }): FormReader;
}
