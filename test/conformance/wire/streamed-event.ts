/** An event of a stream over HTTP. */
export interface StreamedEvent {
  id: string | undefined;
  event: string;
  /** Number in the comment line `:HTTP_STATUS/<n>`. Only in native streams. */
  status: number | undefined;
  data: unknown;
}
