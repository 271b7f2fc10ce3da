declare module 'parse-prometheus-text-format' {
  /** Reads the text format 0.0.4. @throws Error on a line that it does not know. */
  export default function parse(text: string): unknown[];
}
