import type { RequestHandler } from 'express';
import { middleware } from 'express-openapi-validator';

/**
 * Checks every JSON response against the contract, for development and tests. A response that breaks the contract
 * becomes a 500, and the log names the violation.
 */
export function checkResponses(contract: object): RequestHandler[] {
  return middleware({
    apiSpec: structuredClone(contract) as Parameters<typeof middleware>[0]['apiSpec'],
    validateApiSpec: false,
    validateRequests: false,
    validateSecurity: false,
    // The gateway reads forms itself.
    fileUploader: false,
    validateResponses: true,
    ignoreUndocumented: true,
  });
}
