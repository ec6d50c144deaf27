import { expect, test } from "bun:test";
import { list } from "isbot";
import { isBot, notBots } from "../../src/server/modules/views/service.ts";

const people = [
  "",
  ..."Bun/1.4.5 Deno/2.1.4 node undici axios/1.7.7 curl/8.5.0 Wget/1.21.4 python-requests/2.32.3".split(" "),
  ..."python-httpx/0.27.2 Python-urllib/3.12 okhttp/4.12.0 Java-http-client/21.0.4 Java/17.0.12".split(" "),
  ..."Go-http-client/1.1 GuzzleHttp/7 PHP/8.3.11 Ruby MyShop com-example-shop/1.0".split(" "),
  "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) GSA/328.0 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (Linux; Android 14; SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36",
  "Mozilla/5.0 (Linux; Android 13; CUBOT_X30) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/121.0.0.0 Mobile Safari/537.36",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 330.0.0.0",
  "node-fetch/1.0 (+https://github.com/bitinn/node-fetch)",
  "got (https://github.com/sindresorhus/got)",
  "Python/3.12 aiohttp/3.10.5",
  "Apache-HttpClient/4.5.14 (Java/17.0.12)",
  "Dart/3.5 (dart:io)",
  "Faraday v2.9.0",
  "Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8 Build/AP2A.240805.005)",
  "MyShop/2.1.0 (iPhone; iOS 17.5; Scale/3.00)",
  "MyShop/412 CFNetwork/1496.0.7 Darwin/23.5.0",
];
const machines = [
  "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
  "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36",
  "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)",
  "Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)",
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)",
  "CCBot/2.0 (https://commoncrawl.org/faq/)",
  "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
  "Twitterbot/1.0",
  "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
  "TelegramBot (like TwitterBot)",
  "WhatsApp/2.23.20.0",
  "LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)",
  "Mozilla/5.0 (compatible; vkShare; +http://vk.com/dev/Share)",
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/129.0.0.0 Safari/537.36",
  "Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/538.1 (KHTML, like Gecko) PhantomJS/2.1.1 Safari/538.1",
  "Mozilla/5.0 (Linux; Android 11; moto g power) AppleWebKit/537.36 Chrome/129.0.0.0 Mobile Safari/537.36 Chrome-Lighthouse",
  "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)",
  "Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)",
  "StatusCake",
  "Scrapy/2.11.2 (+https://scrapy.org)",
  "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
];

test.each(people)("the user agent of a person, or of a person's program: %s", (agent) => {
  expect(isBot(agent)).toBe(false);
});

test.each(machines)("the user agent of a bot: %s", (agent) => {
  expect(isBot(agent)).toBe(true);
});

test("every pattern that we exclude from the list of isbot is in this list", () => {
  expect([...notBots].filter((pattern) => !list.includes(pattern))).toEqual([]);
});

test("very long user agents, and thousands of different ones, are classified correctly", () => {
  for (let n = 0; n < 3000; n++) expect(isBot(`MyShop/${n} ${"(x".repeat(8000)}`)).toBe(false);
  for (const agent of machines) expect(isBot(agent)).toBe(true);
  for (const agent of people) expect(isBot(`${agent}${" ".repeat(20_000)}`)).toBe(false);
});
