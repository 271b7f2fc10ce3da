import type { TextlintRuleReporter } from '@textlint/types';

const start = /(?:^|[.!?]["')*]*\s)[\s("'*#|-]*(what|whoever|who|so\s+(?:many|much|long)|that)\b/gi;

/** Reports sentences that start with a pronoun in place of a noun, such as "What is missing fails". */
export const sentenceStart: TextlintRuleReporter = ({ Syntax, RuleError, getSource, report, locator }) => {
  const check = (node: Parameters<typeof getSource>[0]) => {
    const text = getSource(node) ?? '';
    for (const match of text.matchAll(start)) {
      const [whole, word = ''] = match;
      const index = match.index + whole.length - word.length;
      // Only a capital letter starts a sentence: "e.g. what".
      if (!/^[A-Z]/.test(word)) continue;
      const padding = locator.range([index, index + word.length]);
      report(
        node as Parameters<typeof report>[0],
        new RuleError(`Sentence starts with “${word}”. Name the subject.`, { padding }),
      );
    }
  };
  return { [Syntax.Paragraph]: check, [Syntax.Header]: check, [Syntax.TableCell]: check };
};
