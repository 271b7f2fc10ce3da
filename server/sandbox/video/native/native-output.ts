/** What a finished task adds to the answer of a poll. */
export interface NativeOutput {
  output: object;
  usage?: object;
}
