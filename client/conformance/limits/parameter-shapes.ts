import type { DocumentedOperation, Parameter } from '../contract/documented.ts';
import type { Variation } from '../wire/exchange.ts';
import type { ShapeCase } from './shape-cases.ts';

/** Texts that are no value of a type. */
const wrongTexts: Readonly<Record<string, readonly string[]>> = {
  integer: ['many', '1.5', ''],
  number: ['many', ''],
  boolean: ['maybe'],
};

/**
 * For each parameter texts that are not of its type, the same parameter twice where it takes one value, and its
 * absence where it must be there.
 */
export function parameterShapes(operation: DocumentedOperation): ShapeCase[] {
  return operation.parameters
    .filter((parameter) => operation.method === 'get' || !changesAll(parameter))
    .flatMap((parameter) => {
      const { name, schema, required, in: place } = parameter;
      const one = typeof schema.type === 'string' ? schema.type : '';
      const of = (title: string, variation: Variation): ShapeCase => ({
        name: title,
        field: name,
        variation,
      });
      return [
        ...(wrongTexts[one] ?? [])
          // An empty path parameter makes another path.
          .filter((text) => place !== 'path' || text !== '')
          .map((text) => of(`${name} ${JSON.stringify(text)}`, withParameter(parameter, text))),
        ...(place === 'query' && (one === 'integer' || one === 'boolean')
          ? [of(`${name} twice`, { query: { [name]: ['1', '2'] } })]
          : []),
        ...(required && place === 'query' ? [of(`without ${name}`, { query: { [name]: [] } })] : []),
        ...(required && place === 'header'
          ? [of(`without ${name}`, { headers: { [name]: undefined } })]
          : []),
      ];
    });
}

/** A server that overlooks such a one does what it was to be kept from. */
const changesAll = ({ in: place, schema }: Parameter) => place === 'query' && schema.type === 'boolean';

/** A request with a parameter as a text. */
export function withParameter({ name, in: place }: Parameter, text: string): Variation {
  if (place === 'query') return { query: { [name]: text } };
  return place === 'path' ? { path: { [name]: text } } : { headers: { [name]: text } };
}
