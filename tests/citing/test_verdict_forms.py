"""Forms of one amount, and sentences that a table says: each is verified, in seven languages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from citing.batch import Case, check

# A language, a sentence, and what may stand in it: the passage's form = the claim's form.
FORMS = """
en: The survey covered {} households.
    1,577 = 1577; 1.2 million = 1,200,000; 1,200,000 = 1.2 million
    two thousand five hundred = 2,500; 2,500 = two and a half thousand; forty-two = 42
    42 = forty-two; three dozen = 36; a dozen = 12
    1.84 billion = 1,840 million; 350 thousand = 350,000; one hundred and twenty = 120
    a hundred = 100
en: The tank holds {} of water.
    1.5 litres = 1,500 ml; 1,500 ml = 1.5 L; 2 m³ = 2,000 litres
    500 kg = 0.5 tonnes; 0.5 t = 500 kg; 250 g = 0.25 kg
en: The process takes {}.
    90 minutes = one and a half hours; an hour and a half = 90 minutes
    1 hour 30 minutes = 90 minutes
    1½ hours = 90 minutes; half an hour = 30 minutes; 30 minutes = half an hour
    two weeks = 14 days; 14 days = a fortnight; 48 hours = two days
    18 months = a year and a half; one year = 12 months; three quarters of an hour = 45 minutes
    120 seconds = 2 min; a quarter of an hour = 15 minutes; six months = half a year
    10 years = a decade
en: The road is {} long.
    1.2 km = 1,200 m; 1,200 metres = 1.2 kilometres; 5 miles = 5 mi
    30 cm = 0.3 m; 300 mm = 30 cm; 12 inches = one foot
en: The share of members was {}.
    50 % = half; half = 50 percent; a quarter = 25 %
    25% = one quarter; two thirds = about 67 %; one in five = 20 %
    20 % = one in five; three quarters = 75 %; 75 per cent = three quarters
    one tenth = 10 %; 40 % = two fifths; nine out of ten = 90 %
    0.5 % = half a percent
en: The rate rose by {}.
    120 basis points = 1.2 percentage points; 1.2 percentage points = 120 basis points
    0.25 percentage points = 25 basis points
    a quarter of a percentage point = 0.25 percentage points
    half a percentage point = 50 basis points
en: The meeting was held on {}.
    5 March 2021 = March 5, 2021; March 5, 2021 = 5 March 2021; 2021-03-05 = 5 March 2021
    5th March 2021 = March 5th, 2021; Friday, 5 March 2021 = 5 March 2021
en: The project costs {}.
    $1.2 million = $1,200,000; $1,200,000 = 1.2 million dollars; €350m = €350 million
    €350 million = 350 million euros; US$ 5 billion = $5 billion; £2.5bn = £2,500 million
    $1.2 million = USD 1.2 million; EUR 20,000 = €20,000; $1.2M = $1.2 million
en: The temperature was {}.
    -5 °C = minus 5 °C; -5 °C = −5 degrees Celsius; 20 °C = 68 °F
    68 °F = 20 °C
en: The machine draws {}.
    2,400 W = 2.4 kW; 1.5 kW = 1,500 watts; 500 mA = 0.5 A
    230 V = 0.23 kV; 50 Hz = 50 hertz; 2 GB = 2,000 MB
    100 kPa = 1 bar; 36 km/h = 10 m/s; 0.4 mg = 400 micrograms
    400 µg = 0.4 mg; 1.4 g/dL = 14 g/L
en: The value rose {}.

de: Die Umfrage erfasste {} Haushalte.
    1.577 = 1577; 1,2 Millionen = 1.200.000; 1.200.000 = 1,2 Mio.
    zweiundvierzig = 42; 42 = zweiundvierzig; dreihundertfünfzig = 350
    350 = dreihundertfünfzig; zwei Dutzend = 24; 1 500 = 1.500
    zweitausend = 2.000; anderthalb Millionen = 1,5 Millionen; eine halbe Million = 500.000
de: Der Vorgang dauert {}.
    90 Minuten = anderthalb Stunden; eineinhalb Stunden = 90 Minuten
    eine halbe Stunde = 30 Minuten
    zwei Wochen = 14 Tage; 14 Tage = zwei Wochen; 48 Stunden = zwei Tage
    ein Jahr = zwölf Monate; eine Viertelstunde = 15 Minuten; sechs Monate = ein halbes Jahr
    zweieinhalb Jahre = 30 Monate; eine Dreiviertelstunde = 45 Minuten
de: Der Anteil betrug {}.
    50 % = die Hälfte; die Hälfte = 50 Prozent; ein Viertel = 25 %
    25 % = ein Viertel; zwei Drittel = rund 67 %; drei Viertel = 75 %
    ein Fünftel = 20 %; 20 % = jeder fünfte; 1,5 % = 1,5 Prozent
de: Das Vorhaben kostet {}.
    1,84 Mrd. € = 1.840 Mio. €; 1,2 Mio. Euro = 1.200.000 €; 350 Tsd. € = 350.000 Euro
    2,5 Milliarden Euro = 2.500 Millionen Euro; 500 T€ = 500.000 Euro; EUR 20.000 = 20.000 Euro
de: Die Strecke misst {}.
    1,2 km = 1.200 m; 1.200 Meter = 1,2 Kilometer; 30 cm = 0,3 m
de: Die Sitzung fand am {} statt.
    5. März 2021 = 05.03.2021; 05.03.2021 = 5. März 2021; 5.3.2021 = 5. März 2021
de: Die Temperatur betrug {}.
    -5 °C = minus 5 Grad Celsius; minus fünf Grad = -5 Grad
de: Die Maschine braucht {}.
    2.400 W = 2,4 kW; 1,5 l = 1.500 ml; 0,5 t = 500 kg
    250 g = 0,25 kg; 36 km/h = 10 m/s; 1,5 Liter = 1,5 l
fr: L'enquête a porté sur {} ménages.
    1 577 = 1577; 1 577 = 1.577; 1,2 million de = 1 200 000
    quarante-deux = 42; 42 = quarante-deux; trois cent cinquante = 350
    soixante-quinze = 75; quatre-vingt-dix = 90; deux mille = 2 000
    une douzaine de = 12; une centaine de = environ 100
fr: Le traitement dure {}.
    90 minutes = une heure et demie; une heure et demie = 90 minutes
    une demi-heure = 30 minutes
    deux semaines = 14 jours; quinze jours = 15 jours; 48 heures = deux jours
    un an = douze mois; un quart d'heure = 15 minutes; trois quarts d'heure = 45 minutes
fr: La part était de {}.
    50 % = la moitié; la moitié = 50 pour cent; un quart = 25 %
    25 % = un quart; deux tiers = environ 67 %; trois quarts = 75 %
    un cinquième = 20 %; une personne sur cinq = 20 %
fr: Le projet coûte {}.
    1,84 milliard d'euros = 1 840 millions d'euros; 1,2 M€ = 1,2 million d'euros
    350 000 € = 350 milliers d'euros
    350 k€ = 350 000 euros; 2,5 Md€ = 2,5 milliards d'euros
fr: La réunion a eu lieu le {}.
    5 mars 2021 = 05/03/2021; 05/03/2021 = 5 mars 2021; 1er mars 2021 = 1 mars 2021
fr: La route mesure {}.
    1,2 km = 1 200 m; 1 200 mètres = 1,2 kilomètre; 30 cm = 0,3 m
fr: La machine consomme {}.
    2 400 W = 2,4 kW; 1,5 litre = 1 500 ml; 0,5 tonne = 500 kg
es: La encuesta abarcó {} hogares.
    1.577 = 1577; 1,2 millones de = 1.200.000; cuarenta y dos = 42
    42 = cuarenta y dos; trescientos cincuenta = 350; 350 = trescientos cincuenta
    dos mil = 2.000; una docena de = 12; mil quinientos = 1.500
    medio millón de = 500.000
es: El tratamiento dura {}.
    90 minutos = una hora y media; una hora y media = 90 minutos; media hora = 30 minutos
    dos semanas = 14 días; 14 días = dos semanas; 48 horas = dos días
    un año = doce meses; un cuarto de hora = 15 minutos; seis meses = medio año
es: La proporción fue del {}.
    50 % = la mitad; 25 % = una cuarta parte; 20 % = una quinta parte
    75 % = tres cuartas partes
es: El proyecto cuesta {}.
    1,84 mil millones de euros = 1.840 millones de euros
    1.250 millones de pesos = 1,25 mil millones de pesos; 350.000 € = 350 mil euros
    2.500 M€ = 2.500 millones de euros
es: La reunión se celebró el {}.
    5 de marzo de 2021 = 05/03/2021; 05/03/2021 = 5 de marzo de 2021
es: La carretera mide {}.
    1,2 km = 1.200 m; 1.200 metros = 1,2 kilómetros; 0,5 toneladas = 500 kg
zh: 该市人口为{}。
    358.4万人 = 3,584,000人; 3584000人 = 358.4万人; 1.2亿人 = 12,000万人
    一百二十人 = 120人; 两千五百人 = 2500人; 三十万人 = 30万人
    1560万 = 1,560万
zh: 该项目投资{}。
    12.6亿元 = 126,000万元; 1260百万元 = 12.6亿元; 50万元 = 500,000元
    人民币8,000元 = 8000元
zh: 占比为{}。
    50% = 一半; 一半 = 50%; 四分之一 = 25%
    25% = 四分之一; 三分之二 = 约67%; 百分之十五 = 15%
    15% = 百分之十五; 五分之一 = 20%; 三成 = 30%
    30% = 三成
zh: 该过程持续{}。
    90分钟 = 一个半小时; 一个半小时 = 90分钟; 半小时 = 30分钟
    两周 = 14天; 14天 = 两周; 一年 = 12个月
    6个月 = 半年; 半年 = 6个月; 48小时 = 两天
    15分钟 = 一刻钟
zh: 长度为{}。
    1.2公里 = 1200米; 1200米 = 1.2千米; 30厘米 = 0.3米
    500克 = 0.5千克; 1.5升 = 1500毫升
zh: 会议于{}举行。
    2021年3月5日 = 二〇二一年三月五日; 2021年3月5日 = 2021-03-05
zh: 气温为{}。
    -5℃ = 零下5摄氏度; 零下5℃ = -5℃
ja: 人口は{}である。
    358.4万人 = 3,584,000人; 3,584千人 = 358.4万人; 1億2000万人 = 1.2億人
    百二十人 = 120人; 二千五百人 = 2,500人; 3万5千人 = 35,000人
ja: 費用は{}である。
    12億6000万円 = 12.6億円; 1,260百万円 = 12.6億円; 8万円 = 80,000円
    80,000円 = 8万円; 500千円 = 50万円
ja: 割合は{}である。
    50% = 半分; 半数 = 50%; 4分の1 = 25%
    25% = 四分の一; 3分の2 = 約67%; 2割 = 20%
    20% = 2割; 1割5分 = 15%; 5人に1人 = 20%
    15パーセント = 15%
ja: 期間は{}である。
    90分 = 1時間半; 1時間半 = 90分; 30分 = 半時間
    2週間 = 14日間; 1年 = 12か月; 6か月 = 半年
    半年 = 6ヶ月; 48時間 = 2日
ja: 長さは{}である。
    1.2km = 1,200m; 1,200メートル = 1.2キロメートル; 30センチ = 0.3メートル
    500グラム = 0.5kg; 1.5リットル = 1,500ml
ja: 会議は{}に開かれた。
    2021年3月5日 = 令和3年3月5日; 2021年3月5日 = 2021/3/5
ja: 気温は{}である。
    -5℃ = マイナス5℃; 氷点下5度 = マイナス5度
ar: شمل المسح {} أسرة.
    1,577 = 1577; ١٥٧٧ = 1577; 1577 = ١٥٧٧
    1.2 مليون = 1,200,000; مئة وعشرين = 120; ألفي = 2000
    خمسمئة = 500; ثلاثة ملايين وأربعمائة ألف = 3.4 مليون
    3.4 مليون = ثلاثة ملايين وأربعمائة ألف
ar: يستغرق العلاج {}.
    90 دقيقة = ساعة ونصف; ساعة ونصف = 90 دقيقة; نصف ساعة = 30 دقيقة
    أسبوعين = 14 يوما; 14 يوما = أسبوعين; 48 ساعة = يومين
    12 شهرا = سنة واحدة; 6 أشهر = نصف سنة; ربع ساعة = 15 دقيقة
    ساعتين = 120 دقيقة
ar: بلغت النسبة {}.
    50% = النصف; نصف = 50%; ربع = 25%
    25% = الربع; ثلثين = نحو 67%; 20 في المئة = 20%
    20% = عشرين بالمئة; ثلاثة أرباع = 75%
ar: تبلغ تكلفة المشروع {}.
    1.84 مليار دولار = 1840 مليون دولار; 350 ألف ريال = 350,000 ريال
    5 ملايين دولار = 5,000,000 دولار
ar: يبلغ طول الطريق {}.
    1.2 كيلومتر = 1200 متر; 1200 متر = 1.2 كم; 30 سم = 0.3 متر
    1.5 لتر = 1500 مل; 500 غرام = 0.5 كغم
ar: عقد الاجتماع في {}.
    5 مارس 2021 = 5 آذار 2021; 5 آذار 2021 = 5 مارس 2021; ٥ مارس ٢٠٢١ = 5 مارس 2021
"""

# A language, a table, and claims: "+" it says them, "-" it does not.
TABLES = """
# en
Table 2. Net sales by region (in thousands of dollars)
| Region | 2023 | 2022 | Change |
| North America | 14,320 | 13,871 | 3.2 % |
| Europe, Middle East and Africa | 9,105 | 9,640 | (5.5) % |
| Asia Pacific | 4,877 | 4,102 | 18.9 % |
| Total | 28,302 | 27,613 | 2.5 % |
+ Net sales in North America were $14,320 thousand in 2023.
+ In 2023, North America had net sales of $14.3 million.
+ Asia Pacific accounted for net sales of $4,877 thousand in 2023.
+ In 2022 net sales in the Asia Pacific region came to $4.102 million.
+ Net sales in Asia Pacific grew by 18.9 % in 2023.
+ Net sales in Europe, Middle East and Africa fell by 5.5 %.
+ Total net sales were $28,302 thousand in 2023, compared with $27,613 thousand in 2022.
+ Net sales in Asia Pacific increased from $4,102 thousand in 2022 to $4,877 thousand in 2023.
+ Total net sales increased 2.5 percent to $28.3 million.
+ Of the regions, North America had the highest net sales in 2023.
- Net sales in Europe, Middle East and Africa rose by 5.5 %.
- Net sales in North America were $14,320 million in 2023.
- Net sales in Asia Pacific were $4,102 thousand in 2023.
- Net sales in North America were €14,320 thousand in 2023.
# en
| Quarter | Orders | Average value (€) | Returns (%) |
| Q1 2024 | 1,204 | 84.50 | 6.1 |
| Q2 2024 | 1,377 | 79.20 | 5.4 |
| Q3 2024 | 1,290 | 81.00 | 7.0 |
+ There were 1,204 orders in the first quarter of 2024.
+ In Q2 2024 the average value of an order was €79.20.
+ Returns were 7.0 % in Q3 2024.
+ In the third quarter of 2024, 7 % of orders were returned.
+ The average order value was 84.50 euros in Q1 2024.
- There were 1,377 orders in the first quarter of 2024.
- The average value was $79.20 in Q2 2024.
- Returns were 5.4 percentage points in Q2 2024.
# en
Table 6. Optional equipment
| Item | Weight (kg) | Power draw (W) | Warranty (years) | Price (£) |
| Winch, front | 38.5 | 2,400 | 3 | 1,150 |
| Winch, rear | 31.0 | 1,800 | 2 | 940 |
| Roof rack | 22.4 | – | 5 | 385 |
+ The roof rack has a five-year warranty.
+ The warranty on the roof rack is five years.
+ The front winch weighs 38.5 kg.
+ The weight of the front winch is 38.5 kilograms.
+ The rear winch has a power draw of 1,800 W.
+ The rear winch has a power draw of 1.8 kW.
+ The rear winch draws 1.8 kW.
+ The front winch costs £1,150.
+ The price of the front winch is £1,150.
+ A roof rack weighs 22.4 kg and costs £385.
- The roof rack has a two-year warranty.
- The rear winch weighs 38.5 kg.
- The price of the roof rack is $385.
- The roof rack costs £940.
- The rear winch draws 1,800 kW.
# en
Table 1. Baseline characteristics of patients
| Characteristic | Drug A (N = 148) | Placebo (N = 151) |
| Mean age, years | 54.2 | 55.0 |
| Female sex, no. (%) | 81 (54.7) | 77 (51.0) |
| Current smoker, no. (%) | 32 (21.6) | 40 (26.5) |
| Median systolic blood pressure, mm Hg | 138 | 136 |
+ The mean age was 54.2 years in the Drug A group.
+ Patients receiving drug A had a mean age of 54.2 years.
+ In the placebo group 26.5 % of patients were current smokers.
+ The median systolic blood pressure was 136 mm Hg with placebo.
+ Forty patients in the placebo group were current smokers.
- The mean age in the placebo group was 54.2 years.
- In the placebo group 21.6 % were current smokers.
# en
Electrical data
| Parameter | Min. | Typ. | Max. | Unit |
| Supply voltage | 2.7 | 3.3 | 3.6 | V |
| Supply current | – | 4.5 | 6.0 | mA |
| Operating temperature | −40 | 25 | 85 | °C |
+ The maximum supply current is 6.0 mA.
+ The minimum operating temperature is −40 °C.
+ The typical supply voltage is 3.3 V.
+ The operating temperature ranges from −40 °C to 85 °C.
- The maximum supply voltage is 3.3 V.
- The supply voltage must be at least 3.6 V.
- The supply current is at most 6.0 A.
# en
Balance sheet data (in millions)
| | December 31, 2023 | December 31, 2022 |
| Cash and cash equivalents | $ 1,204 | $ 988 |
| Accounts receivable, net | 2,310 | 2,145 |
| Total assets | 15,870 | 15,002 |
| Accumulated deficit | (412) | (655) |
| Long-term debt, less current portion | 3,100 | 3,400 |
+ Cash and cash equivalents were $1,204 million at December 31, 2023.
+ As of December 31, 2023, cash and cash equivalents amounted to $1.2 billion.
+ Total assets were $15.87 billion as of December 31, 2023.
+ Net accounts receivable stood at $2,145 million at the end of 2022.
+ The accumulated deficit was $412 million at December 31, 2023.
+ Long-term debt fell to $3.1 billion from $3.4 billion.
+ At year-end 2023, total assets were $15,870 million.
+ Accounts receivable increased by $165 million.
- Total assets were $15.87 million as of December 31, 2023.
- Total assets were $15,002 million at December 31, 2023.
- Long-term debt rose to $3.4 billion.
# de
Umsatz nach Segment (in Mio. €)
| Segment | 2023 | 2022 | Veränderung |
| Maschinenbau | 412,5 | 398,0 | +3,6 % |
| Dienstleistungen | 188,2 | 201,7 | -6,7 % |
| Gesamt | 600,7 | 599,7 | +0,2 % |
+ Der Umsatz im Segment Maschinenbau betrug 2023 412,5 Mio. €.
+ Das Segment Dienstleistungen erzielte 2023 einen Umsatz von 188,2 Millionen Euro.
+ 2022 lag der Umsatz mit Dienstleistungen bei 201,7 Mio. €.
+ Der Umsatz im Segment Dienstleistungen sank um 6,7 %.
+ Der Umsatz im Maschinenbau stieg 2023 von 398,0 auf 412,5 Mio. €.
- Der Umsatz im Segment Dienstleistungen stieg um 6,7 %.
- Der Umsatz im Segment Maschinenbau betrug 2023 398,0 Mio. €.
- Der Umsatz im Segment Maschinenbau betrug 2023 412,5 Mrd. €.
# fr
Fréquentation des musées (en milliers de visiteurs)
| Musée | 2021 | 2022 |
| Beaux-Arts | 184 | 231 |
| Histoire naturelle | 96 | 142 |
| Marine | 41 | 38 |
+ Le musée des Beaux-Arts a accueilli 231 milliers de visiteurs en 2022.
+ En 2022, le musée d'Histoire naturelle a reçu 142 000 visiteurs.
+ Le musée de la Marine comptait 41 000 visiteurs en 2021.
+ La fréquentation du musée de la Marine a diminué entre 2021 et 2022.
- Le musée de la Marine a reçu 38 000 visiteurs en 2021.
- La fréquentation du musée de la Marine a augmenté entre 2021 et 2022.
# es
Superficie y población de los municipios
| Municipio | Superficie (km²) | Población | Altitud (m) |
| Arroyal | 84,2 | 12.410 | 640 |
| Peñablanca | 132,7 | 3.985 | 1.120 |
| Soto | 21,0 | 27.300 | 15 |
+ La superficie de Arroyal es de 84,2 km².
+ Peñablanca está a 1.120 metros de altitud.
+ Soto tiene una población de 27.300 habitantes.
+ La altitud de Peñablanca es de 1,12 km.
+ Arroyal tiene 12.410 habitantes.
- La superficie de Soto es de 84,2 km².
- Soto tiene más altitud que Arroyal.
- La altitud de Peñablanca es de 1.120 km.
# zh
各产品销售收入（单位：万元）
| 产品 | 2022年 | 2023年 |
| 空调 | 3,420 | 3,915 |
| 冰箱 | 2,180 | 1,960 |
| 合计 | 5,600 | 5,875 |
+ 2023年空调的销售收入为3,915万元。
+ 空调2022年销售收入为3420万元。
+ 2023年空调销售收入达到39,150,000元。
+ 2023年销售收入合计5,875万元。
- 2023年冰箱的销售收入为2,180万元。
- 2023年空调的销售收入为3,915亿元。
# ja
店舗別来客数（単位：千人）
| 店舗 | 2021年度 | 2022年度 |
| 本店 | 342 | 398 |
| 駅前店 | 215 | 204 |
| 空港店 | 88 | 121 |
+ 2022年度の本店の来客数は398千人だった。
+ 駅前店の来客数は2021年度に21万5千人であった。
+ 空港店の2022年度の来客数は121,000人である。
+ 駅前店の来客数は2021年度から2022年度にかけて減少した。
- 2022年度の駅前店の来客数は215千人だった。
- 空港店の来客数は減少した。
# ar
عدد الطلاب حسب المدرسة
| المدرسة | 2020 | 2021 |
| الأمل | 420 | 455 |
| النور | 610 | 588 |
+ في عام 2020 كان عدد طلاب مدرسة النور 610.
- بلغ عدد الطلاب في مدرسة النور 455 في عام 2021.
"""


def forms() -> Iterator[tuple[str, str, str]]:
    language = sentence = ""
    for line in filter(None, FORMS.splitlines()):
        if not line.startswith(" "):
            language, sentence = line.split(": ", 1)
            continue
        for pair in line.strip().split("; "):
            printed, said = pair.split(" = ")
            yield language, sentence.format(printed), sentence.format(said)


def tables(listed: str) -> Iterator[tuple[str, str, str, bool]]:
    language, passage = "", []  # type: str, list[str]
    for line in listed.strip().splitlines():
        if line.startswith("# "):
            language, passage = line[2:], []
        elif line[:2] in ("+ ", "- "):
            yield language, "\n".join(passage), line[2:], line[0] == "+"
        else:
            passage.append(line)


@pytest.mark.parametrize(("language", "passage", "claim"), list(forms()))
def test_an_amount_is_the_same_in_another_form(language: str, passage: str, claim: str) -> None:
    assert check(Case(claim, passage=passage, lang=language)).verified


@pytest.mark.parametrize(("language", "passage", "claim", "said"), list(tables(TABLES)))
def test_a_table_says_its_cells_in_other_words(language: str, passage: str, claim: str, said: bool) -> None:
    assert check(Case(claim, passage=passage, lang=language)).verified == said


# A language, a passage, and what it says ("+") or does not say ("-") in another order or form.
SENTENCES = """
# en
Yields rose by a mean of 1.4 t/ha (SD 0.6) in the limed plots and by 0.9 t/ha in the others.
+ In the limed plots yields rose by a mean of 1.4 t/ha.
- In the limed plots yields rose by a mean of 0.9 t/ha.
# en
Either party may terminate this Agreement on thirty (30) days' notice.
+ Either party may terminate the Agreement on 30 days' notice.
- Either party may terminate the Agreement on thirty months' notice.
# en
The pump switches off automatically when the tank is full and restarts once it has drained.
+ The pump automatically switches off when the tank is full.
- The pump switches on automatically when the tank is full.
# en
Nests were lost twice as often on the shore as on the island.
- Nests were lost twice as often on the island as on the shore.
# en
The report was approved by the Board before the Committee met.
- The report was approved by the Committee.
# en
The ferry may be cancelled at short notice, according to the harbour master of Skagen.
+ According to the harbour master of Skagen, the ferry may be cancelled at short notice.
# en
Nobody saw the owner of the dog.
- Nobody saw the dog of the owner.
# de
Das Zelt ist gegen Regen, nicht aber gegen Sturm gesichert.
+ Gegen Sturm ist das Zelt nicht gesichert.
- Das Zelt ist gegen Sturm gesichert.
# fr
Le dossier doit être remis au plus tard le 15 octobre.
+ Le dossier doit être remis le 15 octobre au plus tard.
"""


@pytest.mark.parametrize(("language", "passage", "claim", "said"), list(tables(SENTENCES)))
def test_a_sentence_says_itself_in_another_order(language: str, passage: str, claim: str, said: bool) -> None:
    assert check(Case(claim, passage=passage, lang=language)).verified == said
