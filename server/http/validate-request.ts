import type { ErrorObject } from 'ajv';
import type { NextFunction, Request, Response } from 'express';
import type { OperationId } from '../../generated/operations.ts';
import { Failure } from '../lib/failure.ts';
import { bodyLimits } from './body-limits.ts';
import { describeViolations, type Violation, violationOf } from './explain.ts';
import { RequestChecks } from './request-checks.ts';
import { requirePlainValues } from './value-problem.ts';

/** A failure with more specific words for a violation than the schema has. Undefined: the schema's words are used. */
export type ViolationExplainer = (
  operation: OperationId,
  body: unknown,
  violation: Violation,
) => Failure | undefined;

/** Returns an OpenAPI bundle. It is called by `loadRequestChecks`, or else by the first request with input. */
export type BundleSource = () => object;

/** Checks by bundle. All applications of the process share them. */
const checksByBundle = new WeakMap<BundleSource, RequestChecks>();

/**
 * Validates path, query, headers and body of a request against its operation in the OpenAPI bundle. Parameters get the
 * types of the contract. The body is unchanged. Schemas are compiled at the first request of an operation. The middleware
 * fails with Failure 400, which names the field, or with an Error when the bundle lacks an operation.
 */
export function validateRequest(bundle: BundleSource, explainer: ViolationExplainer = () => undefined) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    const { context, headers, body } = request;
    const { operation, params, query } = context;
    if (operation === undefined) {
      next();
      return;
    }
    // A longer text is inline media, which is checked while the body is read.
    const maxTextBytes = bodyLimits(operation, Number.POSITIVE_INFINITY).textBytes;
    requirePlainValues(params, 'path', maxTextBytes);
    requirePlainValues(query, 'query', maxTextBytes);
    if (!context.isBodyPlain) requirePlainValues(body, 'body', maxTextBytes);
    if (operation.noInput === true) {
      next();
      return;
    }
    const { lists, areParametersValid, isBodyValid } = checksOf(bundle).of(operation.id);
    for (const name of lists)
      if (typeof query[name] === 'string') context.query = { ...context.query, [name]: [query[name]] };
    const isValid = areParametersValid({ params, query: context.query, headers });
    if (isBodyValid({ body }) && isValid) {
      next();
      return;
    }
    const errors = [...(areParametersValid.errors ?? []), ...(isBodyValid.errors ?? [])];
    next(failureOf(errors, explainer, operation.id, body));
  };
}

function failureOf(
  errors: readonly ErrorObject[],
  explainer: ViolationExplainer,
  operation: OperationId,
  body: unknown,
): Failure {
  const violations = errors.map(violationOf);
  const explained = violations
    .values()
    .map((violation) => explainer(operation, body, violation))
    .find((failure) => failure !== undefined);
  return explained ?? new Failure(400, 'invalid_request', `${describeViolations(violations)}.`);
}

/** Returns a function that finds the failure of a body under the schema of an operation. Undefined: the body is valid. */
export function bodyCheck(
  bundle: BundleSource,
  explainer: ViolationExplainer,
): (operation: OperationId, body: unknown) => Failure | undefined {
  return (operation, body) => {
    const { isBodyValid } = checksOf(bundle).of(operation);
    return isBodyValid({ body })
      ? undefined
      : failureOf(isBodyValid.errors ?? [], explainer, operation, body);
  };
}

/** Returns whether a body meets the schema of an operation. */
export function bodyTest(bundle: BundleSource): (operation: OperationId, body: unknown) => boolean {
  return (operation, body) => checksOf(bundle).of(operation).isBodyValid({ body });
}

/** Loads the checks of a bundle, so that the first request does not wait for it. @throws Error when the bundle lacks an operation */
export function loadRequestChecks(bundle: BundleSource): void {
  checksOf(bundle);
}

/** Returns the checks of a bundle. @throws Error when the bundle lacks an operation */
function checksOf(bundle: BundleSource): RequestChecks {
  return checksByBundle.getOrInsertComputed(bundle, () => new RequestChecks(bundle()));
}
