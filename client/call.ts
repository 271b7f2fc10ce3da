import type { ParamsOption, ParseAs, RequestBodyOption } from 'openapi-fetch';
import type { operations } from '../generated/http.ts';
import type { OperationId } from '../generated/operations.ts';

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, also while the body is read, with AbortError. */
  signal?: AbortSignal;
  /** Timeout of one attempt in milliseconds: until the headers of a stream, otherwise until the end of the body. */
  timeout?: number;
  /** Maximum number of retries after a transient failure. */
  maxRetries?: number;
  /** Additional headers. */
  headers?: Record<string, string>;
  /** Called with each successful response, for example for the request id of a result that is not an object. */
  onResponse?: (response: Response) => void;
}

/** The operations of the contract, except those that open a socket. */
export type CallableOperation = {
  [Op in OperationId]: operations[Op]['responses'] extends { 101: unknown } ? never : Op;
}[OperationId];

/** Parameters, body and options of an operation. `parseAs` selects how to parse the response body. */
export type CallInit<Op extends CallableOperation> = ParamsOption<operations[Op]> &
  RequestBodyOption<operations[Op]> &
  CallOptions & { parseAs?: ParseAs };

/** The init is optional if it has no required field. */
export type CallArguments<Op extends CallableOperation> =
  Record<never, never> extends CallInit<Op> ? [init?: CallInit<Op>] : [init: CallInit<Op>];

interface BodyTypes {
  text: string;
  blob: Blob;
  arrayBuffer: ArrayBuffer;
  stream: ReadableStream<Uint8Array>;
}

type JsonData<Op extends CallableOperation> = {
  [Status in keyof operations[Op]['responses']]: Status extends 200 | 201 | 202
    ? operations[Op]['responses'][Status] extends { content: { 'application/json': infer Json } }
      ? Json
      : never
    : never;
}[keyof operations[Op]['responses']];

/** Operations without a JSON response return bytes. */
type DefaultData<Op extends CallableOperation> = [JsonData<Op>] extends [never] ? ArrayBuffer : JsonData<Op>;

/** The response data of an operation: as `parseAs` selects, otherwise JSON, otherwise bytes. */
export type OperationData<Op extends CallableOperation, Init> = Init extends [{ parseAs: infer Form }]
  ? Form extends keyof BodyTypes
    ? BodyTypes[Form]
    : DefaultData<Op>
  : DefaultData<Op>;

/** Response data with the HTTP response, whose body has been read. */
export interface CallResult<Data> {
  data: Data;
  response: Response;
  /** The gateway's id of the request. */
  requestId: string | undefined;
}

/** Calls operations of the gateway. */
export interface Caller {
  /** Calls an operation by its id and returns the response data. Throws APIError for an error status. */
  call<Op extends CallableOperation, Init extends CallArguments<Op>>(
    operation: Op,
    ...init: Init
  ): Promise<OperationData<Op, Init>>;
  /** Calls an operation and also returns the HTTP response and the request id. */
  callWithResponse<Op extends CallableOperation, Init extends CallArguments<Op>>(
    operation: Op,
    ...init: Init
  ): Promise<CallResult<OperationData<Op, Init>>>;
  /** Requests a file URL from a gateway response, without the key. Throws APIError for an error status. */
  openAddress(url: string, options?: CallOptions): Promise<Response>;
}
