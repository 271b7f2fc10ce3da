/** Languages of the page, as values of `lng`. */
export type Language = 'en' | 'zh' | 'zh-Hant';

interface PageTexts {
  /** Name of the language. */
  name: string;
  /** Label of the list of languages. */
  languageList: string;
  title: string;
  explanation: string;
  question: string;
  approve: string;
  reject: string;
  /** Text before a time of day in UTC. */
  until: string;
  approved: string;
  rejected: string;
  close: string;
  back: string;
  used: string;
  expired: string;
  unknown: string;
}

export const pageTexts: Readonly<Record<Language, PageTexts>> = {
  en: {
    name: 'English',
    languageList: 'Languages',
    title: 'Identity check',
    explanation: 'This is a sandbox: no camera is used and nobody is checked. You decide how the check ends.',
    question: 'How should the check end?',
    approve: 'Approve',
    reject: 'Reject',
    until: 'This link works once, until',
    approved: 'The check was passed.',
    rejected: 'The check was not passed.',
    close: 'You can close this page.',
    back: 'Back to the application',
    used: 'This link has been used. It works only once.',
    expired: 'This link has expired. Return to the application to request a new one.',
    unknown: 'This link does not exist. Open it exactly as you received it.',
  },
  zh: {
    name: '简体中文',
    languageList: '语言',
    title: '真人验证',
    explanation: '这是沙盒环境：不使用摄像头，也不核验任何人。验证结果由您决定。',
    question: '验证结果应当是？',
    approve: '通过',
    reject: '不通过',
    until: '此链接只能使用一次，有效期至',
    approved: '验证已通过。',
    rejected: '验证未通过。',
    close: '您可以关闭此页面。',
    back: '返回应用',
    used: '此链接已被使用，每个链接只能使用一次。',
    expired: '此链接已过期，请返回原处重新获取。',
    unknown: '链接不存在，请完整打开您收到的链接。',
  },
  'zh-Hant': {
    name: '繁體中文',
    languageList: '語言',
    title: '真人驗證',
    explanation: '這是沙盒環境：不使用攝影機，也不核驗任何人。驗證結果由您決定。',
    question: '驗證結果應當是？',
    approve: '通過',
    reject: '不通過',
    until: '此連結只能使用一次，有效期至',
    approved: '驗證已通過。',
    rejected: '驗證未通過。',
    close: '您可以關閉此頁面。',
    back: '返回應用程式',
    used: '此連結已被使用，每個連結只能使用一次。',
    expired: '此連結已過期，請返回原處重新取得。',
    unknown: '連結不存在，請完整開啟您收到的連結。',
  },
};

export const languages = Object.keys(pageTexts) as Language[];

/** Returns the language of `lng`, or English. */
export function parseLanguage(lng: string | null): Language {
  return languages.find((language) => language === lng) ?? 'en';
}
