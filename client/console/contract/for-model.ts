import type { OperationId } from '../../index.ts';
import type { Contract, Schema } from './contract.ts';

interface Conditional extends Schema {
  if?: Schema;
  then?: Schema;
  else?: Schema;
}

/** Returns the body of an operation with the limits of one model. A property that the model does not support has `not`. */
export function bodyForModel(contract: Contract, operation: OperationId, model: string): Schema {
  const schema = contract.operation(operation).requestBody?.content['application/json']?.schema ?? {};
  const limits = [...limitsOf(contract, schema, model)];
  return limits.reduce((narrowed, limit) => narrow(contract, narrowed, limit), contract.resolve(schema));
}

/** Yields the parts of a schema that apply only to some models, among them this one. */
function* limitsOf(contract: Contract, schema: Schema, model: string): Generator<Schema> {
  const { allOf = [], if: condition, then, else: otherwise } = target(contract, schema);
  const isOfModel = condition && matches(condition, model);
  const limit = isOfModel === undefined ? undefined : isOfModel ? then : otherwise;
  if (limit !== undefined) {
    yield limit;
    yield* limitsOf(contract, limit, model);
  }
  for (const part of allOf) yield* limitsOf(contract, part, model);
}

/**
 * Returns whether a request for a model meets a condition. False for a condition that requires another field, because most
 * requests do not have it. Undefined for a condition on the values of other fields.
 */
function matches({ properties = {}, required = [], ...others }: Schema, model: string): boolean | undefined {
  const { model: rule, ...more } = properties;
  if (Object.keys({ ...properties, ...others }).length === 0) return false;
  const isOther = [more, others].some((object) => Object.keys(object).length > 0);
  if (rule?.pattern === undefined || isOther || required.some((name) => name !== 'model')) return undefined;
  return new RegExp(rule.pattern).test(model);
}

function target(contract: Contract, schema: Schema): Conditional {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (contract.document.components.schemas[name] ?? {});
}

function narrow(contract: Contract, base: Schema, limit: Schema): Schema {
  const from = contract.resolve(base);
  const to = contract.resolve(limit);
  const names = Object.keys(to.properties ?? {});
  const properties = Object.fromEntries(
    names.map((name) => [name, narrow(contract, from.properties?.[name] ?? {}, to.properties?.[name] ?? {})]),
  );
  const description = from.description ?? to.description;
  return {
    ...from,
    ...to,
    ...(description !== undefined && { description }),
    ...((from.properties ?? to.properties) && { properties: { ...from.properties, ...properties } }),
  };
}
