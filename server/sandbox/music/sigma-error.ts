import { NativeError } from '../http/native-error.ts';

/** What this vendor calls an error that the native protocol has under another name. */
const codes: Readonly<Record<string, string>> = {
  DataInspectionFailed: 'sensitive_words_detected',
  InvalidApiKey: 'invalid_api_key',
  AccessDenied: 'access_denied',
  'Throttling.RateQuota': 'rate_limit_exceeded',
  InternalError: 'internal_error',
  ModelUnavailable: 'service_unavailable',
};

/** `{code, message, data: null}`. */
export function sigmaError({ code, message }: NativeError): object {
  return { code: sigmaCode(code), message, data: null };
}

export function sigmaCode(code: string): string {
  return codes[code] ?? (code.startsWith('InvalidParameter') ? 'invalid_request' : code);
}

export function unknownTask(): NativeError {
  return new NativeError(400, 'task_not_exist', 'There is no such task');
}

export function unknownClip(): NativeError {
  return new NativeError(400, 'clip_not_exist', 'There is no such clip');
}
