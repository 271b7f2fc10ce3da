import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { operations as contract } from '../../generated/http.ts';
import type { OperationId, operations } from '../../generated/operations.ts';
import type { Caller } from '../keys/caller.ts';
import type { Pieces } from '../outbound/answer-body.ts';
import type { Gateway } from './gateway.ts';

type Contract<Op extends OperationId> = contract[Op];

/** The JSON body of an operation, as the contract types it; `undefined` when it takes none. */
export type RequestBody<Op extends OperationId> =
  Contract<Op> extends { requestBody: { content: { 'application/json': infer Body } } } ? Body : undefined;

export type PathParameters<Op extends OperationId> =
  Contract<Op> extends { parameters: { path: infer Path } } ? Path : Record<string, never>;

export type QueryParameters<Op extends OperationId> =
  Contract<Op> extends { parameters: { query?: infer Query } } ? NonNullable<Query> : Record<string, never>;

type Responses<Op extends OperationId> = Contract<Op> extends { responses: infer All } ? All : never;

/** The JSON body of one response. */
export type ResponseBody<
  Op extends OperationId,
  Status extends keyof Responses<Op>,
> = Responses<Op>[Status] extends { content: { 'application/json': infer Body } } ? Body : never;

/** A request that has passed the contract. */
export interface OperationRequest<Op extends OperationId> {
  readonly gateway: Gateway;
  readonly requestId: string;
  /** By the monotonic clock. */
  readonly startedAt: number;
  /** Undefined on an operation that needs no key. */
  readonly caller: (typeof operations)[Op]['security'] extends 'none' ? undefined : Caller;
  readonly body: RequestBody<Op>;
  readonly path: PathParameters<Op>;
  readonly query: QueryParameters<Op>;
  readonly headers: IncomingHttpHeaders;
  /** Template of the path that was called: the operation's own or one of its aliases. */
  readonly route: string;
  /** The caller's IP address, as `Gateway.addressOf` knows it; empty once it has left. */
  readonly address: string;
  /** Aborted when the client goes away before the answer is complete. */
  readonly signal: AbortSignal;
}

/** Looks at a body that is passed on. */
export interface PassHooks {
  /** What may go on of what has come. It keeps none of those bytes, which are overwritten later. */
  take(piece: Buffer): readonly Buffer[];
  /** What is left at the end. */
  finish(): Promise<readonly Buffer[]>;
}

/** Ways to answer. Each may be used once. */
export interface Reply<Op extends OperationId> {
  /** Whether something waits for the client to read it. */
  readonly behind: boolean;
  /** Whether the client asks for the headers alone. */
  readonly headersOnly: boolean;
  json<Status extends keyof Responses<Op> & number>(status: Status, body: ResponseBody<Op, Status>): void;
  /** A status that has no body. */
  empty(status: 204): void;
  /** Finished bytes, for example an upstream's own JSON. */
  bytes(
    status: number,
    contentType: string,
    body: Buffer | string,
    headers?: Readonly<Record<string, string>>,
  ): void;
  /**
   * Passes an upstream's body on as it comes, no faster than the client reads. The answer begins with the first piece
   * that goes on, and only then must its type be known. Resolves after the end; rejects when the body or a hook fails,
   * or the client leaves.
   */
  pass(
    status: number,
    contentType: string | (() => string),
    body: Pieces,
    hooks: PassHooks,
    headers?: Readonly<Record<string, string>>,
  ): Promise<void>;
  /**
   * Passes a stream on piece by piece, no faster than the client reads. Resolves when all is written; rejects
   * when the source fails or the client leaves.
   */
  stream(
    status: number,
    contentType: string,
    body: AsyncIterable<Uint8Array> | Readable,
    headers?: Readonly<Record<string, string>>,
  ): Promise<void>;
}

export type Handler<Op extends OperationId> = (
  request: OperationRequest<Op>,
  reply: Reply<Op>,
) => Promise<void> | void;

/** One handler for every operation of the contract: a missing or misspelt one does not compile. */
export type Handlers = { readonly [Op in OperationId]: Handler<Op> };
