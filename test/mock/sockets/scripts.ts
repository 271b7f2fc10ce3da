/** What a provider or the gateway may run into, in the words of both sockets. */
export interface Failure {
  /** Type and code of the realtime `error` event. */
  realtime: { type: string; code: string };
  /** `error_code` of the duplex `task-failed`. */
  inference: string;
  message: string;
  /** Close code that follows. */
  close: number;
}

/** What a script can do to a session. */
export interface Breakable {
  /** Tells the failure and closes. */
  fail(failure: Failure): void;
  close(code: number): void;
  /** Ends the connection without a close frame. */
  drop(): void;
  /** Says nothing more and listens no more. */
  hang(): void;
  /** Sends a text frame that is no JSON. */
  garble(): void;
}

export interface Script {
  about: string;
  /** Status to answer the handshake with. */
  refuse?: number;
  /** What becomes of the handshake instead of an answer. */
  unanswered?: 'cut' | 'left';
  /** Done once, after the first piece of audio. */
  act?: (session: Breakable) => void;
}

const failing = (about: string, failure: Failure): Script => ({
  about: `tells that ${about}, then closes with ${failure.close}`,
  act: (session) => session.fail(failure),
});

const refusing = (refuse: number): [string, Script] => [
  `refuse-${refuse}`,
  { about: `answers the handshake with ${refuse}`, refuse },
];

const closing = (code: number): [string, Script] => [
  `close-${code}`,
  { about: `closes with ${code} and tells no error`, act: (session) => session.close(code) },
];

/**
 * Faults of a socket by name. A client names one in the query parameter `mock_fault` or the header `x-mock-fault` of
 * the handshake (`mock_script` and `x-mock-script` mean the same); all but those of the handshake begin after the first
 * piece of audio.
 */
export const scripts: ReadonlyMap<string, Script> = new Map<string, Script>([
  ['refuse', { about: 'cuts the connection instead of answering the handshake', unanswered: 'cut' }],
  ['stall', { about: 'never answers the handshake', unanswered: 'left' }],
  ['drop', { about: 'breaks the connection off without a close frame', act: (session) => session.drop() }],
  ['hang', { about: 'falls silent and leaves the connection open', act: (session) => session.hang() }],
  [
    'garbage',
    { about: 'sends a text frame that is no JSON, then goes on', act: (session) => session.garble() },
  ],
  [
    'error',
    failing('the provider hung up', {
      realtime: { type: 'api_error', code: 'bad_response' },
      inference: 'InternalError',
      message: 'The provider closed the connection.',
      close: 1011,
    }),
  ],
  [
    'timeout',
    failing('the provider fell silent', {
      realtime: { type: 'api_error', code: 'upstream_timeout' },
      inference: 'InternalError',
      message: 'The provider fell silent.',
      close: 1011,
    }),
  ],
  [
    'quota',
    failing('the quota is used up', {
      realtime: { type: 'permission_error', code: 'insufficient_user_quota' },
      inference: 'AccessDenied',
      message: "The key's remaining quota does not cover this text.",
      close: 1008,
    }),
  ],
  [
    'throttle',
    failing('the provider takes no more', {
      realtime: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
      inference: 'Throttling.RateQuota',
      message: 'The provider takes no more requests now.',
      close: 1013,
    }),
  ],
  [
    'restart',
    failing('the gateway is going down', {
      realtime: { type: 'api_error', code: 'service_restarting' },
      inference: 'ServiceRestarting',
      message: 'The gateway is going down; connect again.',
      close: 1001,
    }),
  ],
  ...[1000, 1001, 1008, 1011, 1013].map(closing),
  ...[400, 401, 403, 404, 429, 500, 503].map(refusing),
]);
