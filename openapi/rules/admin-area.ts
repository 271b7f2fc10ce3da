import { type Context, isNode, type Node, text } from './visit.ts';

const area = '/api/admin/';
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/**
 * Operations below /api/admin/ require the role `admin`, are extensions, and have only the tag `admin`. Other operations
 * have neither a role nor this tag.
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
          const problem = path.startsWith(area) ? adminProblem(operation) : otherProblem(operation);
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

function adminProblem(operation: Node): string | undefined {
  if (operation['x-role'] !== 'admin') return 'must have x-role: admin';
  if (operation['x-extension'] !== true) return 'must have x-extension: true';
  if (operation.security !== undefined) return 'must not override security';
  return tagsOf(operation).join() === 'admin' ? undefined : 'must have only the tag admin';
}

function otherProblem(operation: Node): string | undefined {
  if (operation['x-role'] !== undefined) return `must not have x-role, because it is not below ${area}`;
  return tagsOf(operation).includes('admin')
    ? `must not have the tag admin, because it is not below ${area}`
    : undefined;
}
