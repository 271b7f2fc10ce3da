/** The part of the form parser's interface that is used here; the package ships no types. */
declare module 'busboy' {
  import type { IncomingHttpHeaders } from 'node:http';
  import type { Readable, Writable } from 'node:stream';

  interface Limits {
    /** Bytes of a text part; a longer one is cut, and said to be. */
    fieldSize: number;
    /** Bytes of a file part; what is longer is cut, after the file's event `limit`. */
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

  /** @throws Error when the content type is no form or names no boundary */
  export default function busboy(options: { headers: IncomingHttpHeaders; limits: Limits }): FormReader;
}
