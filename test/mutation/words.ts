/** The read part of a node of Babel's syntax tree, with its position. */
interface Place {
  node: {
    type: string;
    /** Of a statement. */
    expression?: { callee?: { name?: string } };
    callee?: {
      name?: string;
      object?: { name?: string; property?: { name?: string; id?: { name?: string } } };
    };
  };
}

/** Whether it is a call of a logger: `logger.error(…)`, `this.#parts.logger.error(…)`. */
function isLogged({ node }: Place): boolean {
  const of = node.callee?.object;
  const name = of?.property?.name ?? of?.property?.id?.name ?? of?.name;
  return node.type === 'CallExpression' && name === 'logger';
}

/** Excludes log lines, messages of internal errors and the kill points of crash tests from mutation. */
const words = {
  shouldIgnore(place: Place): string | undefined {
    if (isLogged(place)) return 'log line';
    if (place.node.type === 'NewExpression' && place.node.callee?.name === 'Error') return 'internal error';
    if ((place.node.expression ?? place.node).callee?.name === 'fault') return 'kill point of crash tests';
    return undefined;
  },
};

/** A plugin of the mutation tester. */
export const strykerPlugins = [{ kind: 'Ignore', name: 'words', value: words }];
