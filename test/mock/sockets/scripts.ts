/** A failure of the provider or the gateway, in the formats of both sockets. */
export interface Failure {
  /** Type and code of the realtime `error` event. */
  realtime: { type: string; code: string };
  /** `error_code` of the inference event `task-failed`. */
  inference: string;
  message: string;
  /** Close code. */
  close: number;
}

/** A session into which a script injects a fault. */
export interface FaultTarget {
  /** Sends the failure and closes. */
  fail(failure: Failure): void;
  close(code: number): void;
  /** Closes the connection without a close frame. */
  drop(): void;
  /** Stops sending and receiving. */
  hang(): void;
  /** Sends a text frame that is not JSON. */
  garble(): void;
}

export interface Script {
  about: string;
  /** Status with which the handshake is rejected. */
  rejectWith?: number;
  /** Whether the connection closes or stays open without a handshake response. */
  withoutResponse?: 'close' | 'hang';
  /** Runs once, after the first audio chunk. */
  apply?: (session: FaultTarget) => void;
}

const failWith = (about: string, failure: Failure): Script => ({
  about: `reports that ${about}, then closes with ${failure.close}`,
  apply: (session) => session.fail(failure),
});

const rejectHandshakeWith = (status: number): [string, Script] => [
  `refuse-${status}`,
  { about: `rejects the handshake with ${status}`, rejectWith: status },
];

const closeWith = (code: number): [string, Script] => [
  `close-${code}`,
  { about: `closes with ${code} without an error`, apply: (session) => session.close(code) },
];

/**
 * Faults of a socket by name. A client selects one with the query parameter `mock_fault` or the header `x-mock-fault` of the
 * handshake (aliases: `mock_script` and `x-mock-script`). All except those of the handshake start after the first audio
 * chunk.
 */
export const scripts: ReadonlyMap<string, Script> = new Map<string, Script>([
  ['refuse', { about: 'closes the connection without a handshake response', withoutResponse: 'close' }],
  ['stall', { about: 'never answers the handshake', withoutResponse: 'hang' }],
  ['drop', { about: 'closes the connection without a close frame', apply: (session) => session.drop() }],
  ['hang', { about: 'stops sending and keeps the connection open', apply: (session) => session.hang() }],
  [
    'garbage',
    { about: 'sends a text frame that is not JSON, then continues', apply: (session) => session.garble() },
  ],
  [
    'error',
    failWith('the provider closed the connection', {
      realtime: { type: 'api_error', code: 'bad_response' },
      inference: 'InternalError',
      message: 'The provider closed the connection.',
      close: 1011,
    }),
  ],
  [
    'timeout',
    failWith('the provider does not respond', {
      realtime: { type: 'api_error', code: 'upstream_timeout' },
      inference: 'InternalError',
      message: 'The provider does not respond.',
      close: 1011,
    }),
  ],
  [
    'quota',
    failWith('the quota is used up', {
      realtime: { type: 'permission_error', code: 'insufficient_user_quota' },
      inference: 'AccessDenied',
      message: "The key's remaining quota does not cover this text.",
      close: 1008,
    }),
  ],
  [
    'throttle',
    failWith('the provider throttles', {
      realtime: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
      inference: 'Throttling.RateQuota',
      message: 'The provider takes no more requests now.',
      close: 1013,
    }),
  ],
  [
    'restart',
    failWith('the gateway is shutting down', {
      realtime: { type: 'api_error', code: 'service_restarting' },
      inference: 'ServiceRestarting',
      message: 'The gateway is shutting down, connect again.',
      close: 1001,
    }),
  ],
  ...[1000, 1001, 1008, 1011, 1013].map(closeWith),
  ...[400, 401, 403, 404, 429, 500, 503].map(rejectHandshakeWith),
]);
