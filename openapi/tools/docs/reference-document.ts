import { isObject, type JsonObject, objects, operationsOf, text } from '../document.ts';
import { areaTitle, operationName } from './operation-names.ts';
import { samplesOf } from './operation-samples.ts';

/**
 * Returns the OpenAPI document as the reference shows it: with short names for its sidebar, with code samples, and with
 * one operation for all of its prefixes.
 */
export function referenceDocument(openapi: JsonObject): JsonObject {
  const all = operationsOf(openapi);
  const prefixed = Map.groupBy(
    all.filter(({ aliasOf }) => aliasOf !== undefined),
    ({ aliasOf }) => aliasOf,
  );
  const shown = new Map(
    all
      .filter(({ aliasOf }) => aliasOf === undefined)
      .map((operation) => {
        const { id, node } = operation;
        const others = (prefixed.get(id) ?? []).map(({ path }) => `\`${path}\``);
        const description = [
          text(node.summary),
          text(node.description),
          ...(others.length > 0 ? [`The same operation is also at ${others.join(' and ')}.`] : []),
        ];
        const samples = samplesOf(openapi, operation).map((sample) => ({ ...sample }));
        return [
          id,
          {
            ...node,
            summary: operationName(id),
            description: description.filter((part) => part !== '').join('\n\n'),
            'x-codeSamples': samples,
          },
        ] as const;
      }),
  );
  const paths = objects(openapi.paths).map(([path, item]) => {
    const kept = Object.entries(item).flatMap(([key, value]) => {
      const operation = all.find((one) => one.path === path && one.method === key);
      if (operation === undefined) return [[key, value] as const];
      const node = shown.get(operation.id);
      return node === undefined ? [] : [[key, node] as const];
    });
    return [path, Object.fromEntries(kept)] as const;
  });
  const used = paths.filter(([, item]) => Object.keys(item).some((key) => key !== 'parameters'));
  const tags = (Array.isArray(openapi.tags) ? openapi.tags : []).map((tag) => {
    const entry = tag as JsonObject;
    return { ...entry, 'x-displayName': areaTitle(text(entry.name)) };
  });
  return { ...openapi, tags, paths: Object.fromEntries(used), components: withoutHeaderExamples(openapi) };
}

/** Returns the components without the examples of optional headers, which the renderer would add to each sample. */
function withoutHeaderExamples({ components }: JsonObject): JsonObject {
  const { parameters, ...others } = isObject(components) ? components : {};
  const shown = objects(parameters).map(([name, parameter]) => {
    if (parameter.in !== 'header' || parameter.required === true || !isObject(parameter.schema))
      return [name, parameter] as const;
    const { examples: _examples, ...schema } = parameter.schema;
    return [name, { ...parameter, schema }] as const;
  });
  return { ...others, parameters: Object.fromEntries(shown) };
}
