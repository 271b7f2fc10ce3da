import { NativeError } from '../http/native-error.ts';

/** Maps error codes of the native protocol to codes of this protocol. */
const codes: Readonly<Record<string, string>> = {
  DataInspectionFailed: 'sensitive_words_detected',
  InvalidApiKey: 'invalid_api_key',
  AccessDenied: 'access_denied',
  'Throttling.RateQuota': 'rate_limit_exceeded',
  InternalError: 'internal_error',
  ModelUnavailable: 'service_unavailable',
};

/** Formats an error as `{code, message, data: null}`. */
export function formatError({ code, message }: NativeError): object {
  return { code: convertErrorCode(code), message, data: null };
}

export function convertErrorCode(code: string): string {
  return codes[code] ?? (code.startsWith('InvalidParameter') ? 'invalid_request' : code);
}

export function createTaskNotFoundError(): NativeError {
  return new NativeError(400, 'task_not_exist', 'The task does not exist');
}

export function createClipNotFoundError(): NativeError {
  return new NativeError(400, 'clip_not_exist', 'The clip does not exist');
}
