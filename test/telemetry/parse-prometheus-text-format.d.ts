declare module 'parse-prometheus-text-format' {
  /** Parses the text format 0.0.4. @throws Error on an invalid line */
  export default function parse(text: string): { name: string; type: string }[];
}
