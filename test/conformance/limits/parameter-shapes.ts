import type { DocumentedOperation, Parameter } from '../contract/documented.ts';
import type { Variation } from '../wire/exchange.ts';
import type { ShapeCase } from './shape-cases.ts';

/** Texts that are not valid for a type. */
const wrongTexts: Readonly<Record<string, readonly string[]>> = {
  integer: ['many', '1.5', ''],
  number: ['many', ''],
  boolean: ['maybe'],
};

/** Requests with a parameter of the wrong type, with a single-value parameter twice, or without a required one. */
export function parameterShapes(operation: DocumentedOperation): ShapeCase[] {
  return operation.parameters
    .filter((parameter) => operation.method === 'get' || !isSwitch(parameter))
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
          // An empty path parameter leads to another path.
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

/** Whether the parameter is a switch such as `dry_run`. A server that ignores it would make the change. */
const isSwitch = ({ in: place, schema }: Parameter) => place === 'query' && schema.type === 'boolean';

/** Returns a request with a text as the value of a parameter. */
export function withParameter({ name, in: place }: Parameter, text: string): Variation {
  if (place === 'query') return { query: { [name]: text } };
  return place === 'path' ? { path: { [name]: text } } : { headers: { [name]: text } };
}
