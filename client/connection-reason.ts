/** Explanations of the error codes of Node and its `fetch`. */
const explanations: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server accepts connections there',
  ECONNRESET: 'the server closed the connection',
  EPIPE: 'the server closed the connection',
  UND_ERR_SOCKET: 'the server closed the connection',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be resolved',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  ETIMEDOUT: 'the server did not respond in time',
  UND_ERR_CONNECT_TIMEOUT: 'the server did not respond in time',
  UND_ERR_HEADERS_TIMEOUT: 'the server did not respond in time',
  UND_ERR_BODY_TIMEOUT: 'the server did not respond in time',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate of the server is not trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate of the server is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate of the server is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate of the server is not trusted',
  CERT_HAS_EXPIRED: 'the certificate of the server has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of the server is for another host name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not support TLS at this address',
  EPROTO: 'the TLS handshake failed',
};

/**
 * Returns the reason of a failed connection in words, with the error code in parentheses. Reads the innermost cause, because
 * `fetch` itself only reports `fetch failed`.
 */
export function connectionReason(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause.cause) return connectionReason(cause.cause);
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
  const explanation = Object.hasOwn(explanations, code) ? explanations[code] : undefined;
  if (explanation !== undefined) return `${explanation} (${code})`;
  // The errors of several addresses of one host have no message of their own.
  if (cause instanceof AggregateError && cause.errors.length > 0) return connectionReason(cause.errors[0]);
  const message = cause.message.replace(/\.$/, '');
  return message === '' || cause.message === code ? message || code : `${message} (${code})`;
}
