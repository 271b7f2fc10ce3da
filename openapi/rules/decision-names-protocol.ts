import { type Context, isNode, type Node } from './visit.ts';

const nameless = /\bpublic (\w+ )?(protocols?|ones?|records?|relays?|SDK|API)\b/i;

/** A decision that follows a public protocol names it, so that a reader can look it up. */
export function decisionNamesProtocol() {
  const check = (node: Node, ctx: Context) => {
    const decision = node['x-decision'];
    const found = typeof decision === 'string' ? nameless.exec(decision) : null;
    if (found === null) return;
    ctx.report({
      message: `Name the protocol that this decision follows instead of "${found[0]}".`,
      location: ctx.location.child('x-decision'),
    });
  };
  return {
    any: (node: unknown, ctx: Context) => isNode(node) && check(node, ctx),
    ref: (node: Node, ctx: Context) => check(node, ctx),
  };
}
