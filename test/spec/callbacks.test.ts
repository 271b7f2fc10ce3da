import { describe, expect, test } from 'vitest';
import { isObject, type JsonObject, objects, operationsOf } from '../../openapi/tools/document.ts';
import { bundle, documented } from '../conformance/contract/documented.ts';
import { limitSites } from '../conformance/limits/limit-sites.ts';

/** Names of fields with a callback URL. */
const addresses = ['callback_url', 'notify_hook', 'notifyHook'];
/** Operations whose field `url` is a callback URL. */
const endpointCreations = ['createEndpoint', 'createOperatorEndpoint'];

const operations = operationsOf(bundle).filter(({ aliasOf }) => aliasOf === undefined);
const callbacksOf = (node: JsonObject) =>
  objects(node.callbacks).flatMap(([, callback]) =>
    Object.entries(callback).map(([expression, item]) => [expression, item] as const),
  );

describe('callbacks', () => {
  test('every callback URL of a request has its callback, and no other', () => {
    for (const { id, node } of operations) {
      const paths = documented(id).requests.flatMap(({ pointer, mediaType }) =>
        mediaType === 'application/json' ? limitSites(bundle, { $ref: pointer }) : [],
      );
      const requestFields = paths
        .map(({ path }) => path.map(({ key }) => key))
        .filter((path) =>
          (endpointCreations.includes(id) ? ['url'] : addresses).includes(String(path.at(-1))),
        )
        .map((path) => `{$request.body#/${path.join('/')}}`);
      expect(
        callbacksOf(node)
          .map(([expression]) => expression)
          .toSorted(),
        id,
      ).toEqual([...new Set(requestFields)].toSorted());
    }
  });

  test('callbacks have the headers of Standard Webhooks', () => {
    const posts = operations.flatMap(({ node }) =>
      callbacksOf(node).flatMap(([, item]) => (isObject(item) && isObject(item.post) ? [item.post] : [])),
    );
    expect(posts.length).toBeGreaterThan(0);
    for (const post of posts) {
      const names = (post.parameters as JsonObject[]).map((parameter) => parameter.$ref);
      expect(names).toEqual(
        ['WebhookId', 'WebhookTimestamp', 'WebhookSignature'].map(
          (name) => `#/components/parameters/${name}`,
        ),
      );
    }
  });
});
