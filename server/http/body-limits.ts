import { Failure } from '../lib/failure.ts';
import type { Operation } from './routes.ts';

/** Limits of a body, in bytes. */
export interface BodyLimits {
  /** The whole body. */
  bytes: number;
  /** Without inline media. */
  textBytes: number;
}

export const megabyte = 1024 * 1024;

/** Limits of an operation's body. The operator's limit can only lower them. */
export function bodyLimits({ bodyLimitMb, textLimitMb }: Operation, settingMb: number): BodyLimits {
  const bytes = Math.min(bodyLimitMb ?? settingMb, settingMb) * megabyte;
  return { bytes, textBytes: Math.min(textLimitMb === undefined ? bytes : textLimitMb * megabyte, bytes) };
}

/** 413 that names the field and the limit. `what` continues the sentence after the limit. */
export function tooLarge(field: string, bytes: number, what: string): Failure {
  return new Failure(413, 'request_too_large', `${field}: is larger than ${bytes / megabyte} MB${what}.`);
}

export const overall = ', the limit of this route';
export const besideMedia = ' beside inline media, the limit of this route';
