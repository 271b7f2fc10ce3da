import { STATUS_CODES } from 'node:http';
import {
  deref,
  isObject,
  type Json,
  type JsonObject,
  type Operation,
  objects,
  operationsOf,
  text,
} from '../document.ts';
import { chains, folderOrder, stepOf, testScript, variableOf, withVariables } from './chains.ts';

/** Constant id, so that an import of the next release offers to replace the previous one. */
const id = '6f0f7a52-6a0e-4d1c-9a53-2f5d1c0e7b90';
const format = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/**
 * Converts an OpenAPI bundle to a collection in Postman's format 2.1, which Bruno, Insomnia and Hoppscotch also import. It
 * has a folder per tag, a request per body example, and the documented responses. The variables `baseUrl` and `apiKey`
 * contain the base URL and the key. A test script checks each response and stores its ids for later requests. Sockets are
 * omitted, because the format does not support them.
 *
 * Existing converters keep only one example per body and invent values for the rest.
 */
export function collectionOf(openapi: JsonObject): JsonObject {
  const { title, version, description } = deref(openapi, openapi.info);
  const [server] = Array.isArray(openapi.servers) ? openapi.servers : [];
  const operations = operationsOf(openapi).filter(({ node }) => !('101' in deref(openapi, node.responses)));
  const allTags = Array.isArray(openapi.tags) ? openapi.tags.filter(isObject) : [];
  const tags = allTags.toSorted(
    (left, right) => folderOrder(text(left.name)) - folderOrder(text(right.name)),
  );
  const folders = tags.map((tag): JsonObject => {
    const own = operations.filter(({ node }) => Array.isArray(node.tags) && node.tags[0] === tag.name);
    const inOrder = own.toSorted((left, right) => stepOf(left) - stepOf(right));
    const item = inOrder.map((operation) => operationItem(openapi, operation));
    return { name: tag.name ?? '', description: tag.description ?? '', item };
  });
  return {
    info: {
      _postman_id: id,
      name: `${text(title)} ${text(version)}`,
      description: description ?? '',
      schema: format,
    },
    variable: [
      { key: 'baseUrl', value: deref(openapi, server).url ?? '' },
      { key: 'apiKey', value: '' },
      ...chains.map(({ variable, example }) => ({ key: variable, value: example })),
    ],
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{apiKey}}', type: 'string' }] },
    item: folders.filter(({ item }) => Array.isArray(item) && item.length > 0),
  };
}

/** A request with its documented responses, or a folder of requests for several body examples. */
function operationItem(openapi: JsonObject, operation: Operation): JsonObject {
  const { id, node } = operation;
  const [name, description] = [node.summary ?? id, node.description ?? ''];
  const examples = bodies(openapi, node);
  if (examples.length < 2) {
    const request = requestOf(openapi, operation, examples[0]);
    const event = eventOf(openapi, operation, examples[0]);
    return {
      name,
      event,
      request: { ...request, description },
      response: responsesOf(openapi, node, request),
    };
  }
  const item = examples.map((example, index): JsonObject => {
    const request = requestOf(openapi, operation, example);
    const event = eventOf(openapi, operation, example);
    const response = index > 0 ? [] : responsesOf(openapi, node, request);
    return { name: example.name, event, request, response };
  });
  return { name, description, item };
}

/** The test script of a request, in a function so that it can return early. */
function eventOf(openapi: JsonObject, operation: Operation, example?: Body): JsonObject[] {
  const exec = [
    '(() => {',
    ...testScript(openapi, operation, example?.key).map((line) => `  ${line}`),
    '})();',
  ];
  return [{ listen: 'test', script: { type: 'text/javascript', exec } }];
}

interface Body {
  key: string;
  name: string;
  mediaType: string;
  value: Json;
}

function bodies(openapi: JsonObject, node: JsonObject): Body[] {
  return objects(deref(openapi, node.requestBody).content).flatMap(([mediaType, { examples }]) =>
    objects(examples).map(([key, reference]) => {
      const { summary, value = null } = deref(openapi, reference);
      return { key, name: text(summary) || key, mediaType, value };
    }),
  );
}

function requestOf(openapi: JsonObject, operation: Operation, body?: Body): JsonObject {
  const { method, path, node } = operation;
  const item = deref(openapi, deref(openapi, openapi.paths)[path]);
  const all = [item.parameters, node.parameters].flatMap((list) => (Array.isArray(list) ? list : []));
  const parameters = all.map((reference) => deref(openapi, reference));
  const fieldsIn = (place: string) =>
    parameters.filter((parameter) => parameter.in === place).flatMap((parameter) => fields(parameter));
  const query = fieldsIn('query');
  const chained = variableOf(operation.id);
  const variable = fieldsIn('path').map(({ disabled: _, ...field }) => ({
    ...field,
    ...(chained !== undefined && { value: `{{${chained}}}` }),
  }));
  const parts = path.replaceAll(/\{([^}]+)\}/g, ':$1').slice(1);
  const sent = query
    .filter(({ disabled }) => disabled !== true)
    .map(({ key, value }) => `${text(key)}=${text(value)}`);
  const type = body?.mediaType === 'application/json' ? [{ key: 'Content-Type', value: body.mediaType }] : [];
  return {
    method: method.toUpperCase(),
    ...(!sendsKey(node) && { auth: { type: 'noauth' } }),
    header: [...type, ...fieldsIn('header')],
    url: {
      raw: `{{baseUrl}}/${parts}${sent.length > 0 ? `?${sent.join('&')}` : ''}`,
      host: ['{{baseUrl}}'],
      path: parts.split('/'),
      ...(query.length > 0 && { query }),
      ...(variable.length > 0 && { variable }),
    },
    ...(body && { body: bodyOf(body, operation.id) }),
  };
}

/** A parameter with its example, disabled if it is optional. */
function fields({ name, description, required, example, examples, schema }: JsonObject): JsonObject[] {
  const [named] = objects(examples);
  const { examples: typical, default: usual, enum: all } = isObject(schema) ? schema : {};
  const [value = ''] = [example, named?.[1].value, first(typical), usual, first(all)].filter(
    (candidate) => candidate !== undefined,
  );
  const optional: JsonObject = required === true ? {} : { disabled: true };
  // A repeated idempotency key would return the task of the first request.
  const shown = name === 'Idempotency-Key' ? '{{$guid}}' : value;
  return (Array.isArray(shown) ? shown : [shown]).map((one): JsonObject => {
    return { key: name ?? '', value: plain(one), description: description ?? '', ...optional };
  });
}

const plain = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value));

const first = (list: Json | undefined) => (Array.isArray(list) ? list[0] : undefined);

function bodyOf({ mediaType, value }: Body, operation: string): JsonObject {
  if (mediaType === 'application/json')
    return {
      mode: 'raw',
      raw: withVariables(operation, JSON.stringify(value, null, 2)),
      options: { raw: { language: 'json' } },
    };
  const entries = isObject(value) ? Object.entries(value) : [];
  const formdata = entries.flatMap(([key, values]) =>
    (Array.isArray(values) ? values : [values]).map((one) => ({ key, value: plain(one), type: 'text' })),
  );
  return { mode: 'formdata', formdata };
}

function responsesOf(openapi: JsonObject, node: JsonObject, originalRequest: Json): JsonObject[] {
  return objects(node.responses).flatMap(([status, reference]) =>
    objects(deref(openapi, reference).content).flatMap(([mediaType, { examples }]) =>
      objects(examples).map(([key, named]) => {
        const { summary, value = null } = deref(openapi, named);
        return {
          name: `${status}: ${text(summary) || key}`,
          originalRequest,
          code: Number(status),
          status: STATUS_CODES[Number(status)] ?? '',
          _postman_previewlanguage: mediaType === 'application/json' ? 'json' : 'text',
          header: [{ key: 'Content-Type', value: mediaType }],
          body: typeof value === 'string' ? value : JSON.stringify(value, null, 2),
        };
      }),
    ),
  );
}

/** Whether an operation accepts the key of the collection. */
function sendsKey({ security }: JsonObject): boolean {
  return !Array.isArray(security) || security.some((one) => isObject(one) && 'bearerAuth' in one);
}
