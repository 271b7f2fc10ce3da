import type { NativeError } from '../../http/native-error.ts';

const types: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  429: 'TooManyRequests',
};

/** What the other vendor calls an error that the native protocol has under another name. */
const codes: Readonly<Record<string, string>> = {
  DataInspectionFailed: 'InputTextSensitiveContentDetected',
  InvalidApiKey: 'AuthenticationError',
  ModelNotFound: 'InvalidEndpoint.NotFound',
  'Throttling.RateQuota': 'RateLimitExceeded.EndpointRPMExceeded',
  InternalError: 'InternalServiceError',
  ModelUnavailable: 'ServerOverloaded',
};

/** `{error: {code, message, param, type}}`. */
export function officialError(error: NativeError): object {
  const { code, message, field, status } = error;
  return {
    error: {
      code: codes[code] ?? code,
      message,
      param: field ?? '',
      type: types[status] ?? 'InternalServerError',
    },
  };
}
