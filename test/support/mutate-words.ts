/** What is read here of a node of the syntax tree, and of its place in it (Babel). */
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

/** Words that only an operator of the gateway or its author reads, or the tests that kill it: nothing is promised of them. */
const words = {
  shouldIgnore(place: Place): string | undefined {
    if (isLogged(place)) return 'a line of the log';
    if (place.node.type === 'NewExpression' && place.node.callee?.name === 'Error')
      return 'a fault of our own';
    if ((place.node.expression ?? place.node).callee?.name === 'fault')
      return 'a place at which crash tests kill the process';
    return undefined;
  },
};

/** A plugin of the mutation tester. */
export const strykerPlugins = [{ kind: 'Ignore', name: 'words', value: words }];
