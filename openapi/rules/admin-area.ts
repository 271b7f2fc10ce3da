import { type Context, isNode, type Node, text } from './visit.ts';

const area = '/api/admin/';
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/**
 * Every operation below /api/admin/ is for the role `admin`, an extension, and has the tag `admin` alone; no other
 * operation asks for a role or has that tag.
 */
export function adminArea() {
  return {
    Paths(paths: Node, ctx: Context) {
      for (const [path, reference] of Object.entries(paths)) {
        const { node: item } = ctx.resolve(reference);
        if (!isNode(item)) continue;
        for (const method of methods) {
          const operation = item[method];
          if (!isNode(operation)) continue;
          const problem = path.startsWith(area) ? lacking(operation) : claimed(operation);
          if (problem === undefined) continue;
          ctx.report({
            message: `${text(operation.operationId)} at ${path} ${problem}.`,
            location: ctx.location.child([path]).key(),
          });
        }
      }
    },
  };
}

const tagsOf = ({ tags }: Node): unknown[] => [tags ?? []].flat();

function lacking(operation: Node): string | undefined {
  if (operation['x-role'] !== 'admin') return 'must have x-role: admin';
  if (operation['x-extension'] !== true) return 'must have x-extension: true';
  if (operation.security !== undefined) return 'must ask for a key as all others do';
  return tagsOf(operation).join() === 'admin' ? undefined : 'must have the tag admin, and no other';
}

function claimed(operation: Node): string | undefined {
  if (operation['x-role'] !== undefined) return `must not ask for a role: it is not below ${area}`;
  return tagsOf(operation).includes('admin')
    ? `must not have the tag admin: it is not below ${area}`
    : undefined;
}
