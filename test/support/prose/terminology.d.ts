declare module 'textlint-rule-terminology' {
  import type { TextlintRuleModule } from '@textlint/types';

  const terminology: TextlintRuleModule;
  export default terminology;
}
