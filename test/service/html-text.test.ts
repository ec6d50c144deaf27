import { expect, test } from "bun:test";
import { htmlToText } from "../../src/server/modules/catalogue/transfer/migration/shop-table.ts";

test.each([
  ["plain text\nin two lines", "plain text\nin two lines"],
  ["<p>One\ntwo</p>\n\n<p>Three<br/>four</p>", "One two\n\nThree\nfour"],
  ["a<br><br>b<br />\n<br>c", "a\n\nb\n\nc"],
  ["<DIV>a</DIV><div>b</div>", "a\nb"],
  ["<ul>\n<li>red</li>\n<li><b>blue</b></li></ul>end", "- red\n- blue\n\nend"],
  ["<table><tr><td>a</td><td>b</td></tr></table>", "a b"],
  [
    "Gr&ouml;&szlig;e &Auml; 5&nbsp;&#8211;&#x20AC; &lt;b&gt; &unknown; &#0; &#xD800;",
    "Größe Ä 5 –€ <b> &unknown; &#0; �",
  ],
  ['<a href="a/b">link</a><!-- <p>no</p> --><script>if (a < b) c()</script><style>p{}</style>', "link"],
  ["1 < 2 and 3 > 2, <3, <unclosed", "1 < 2 and 3 > 2, <3, <unclosed"],
  ["", ""],
])("%p as text", (html, text) => {
  expect(htmlToText(html)).toBe(text);
});
